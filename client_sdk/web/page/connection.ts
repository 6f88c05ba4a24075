// The page's connection to its room: a mirror with prediction where the room allows it, otherwise snapshots. The client
// survives a loss and a restart of the server within its time, and this class for as long as the page is open.
import { Client, ConnectionError, constants as C, type ConnectOptions } from '../src/client.js';
import { adviceFor } from './advice.js';
import { plainModule, simModule } from './modules.js';
import type { Link } from './link.js';
import type { Live } from './source.js';

// Of a mirror's join. A world that takes more is shown by snapshots: a page could not step it 60 times a second.
const MIRROR_WAIT_MS = 10_000, MIRROR_BYTES = 4n << 20n;
const AGAIN_MS = 3000;  // between tries while the server is away

export type State =
  | { kind: 'joining'; text: string }
  | { kind: 'live'; mode: 'mirror' | 'snapshots'; notice: string | null }
  | { kind: 'reconnecting'; text: string }
  | { kind: 'recording' }
  | { kind: 'ended'; text: string; advice: string; again: boolean };

const TOO_LARGE = 'This world is too large to be simulated in a page';
const TOO_SLOW = `The world was not simulated here within ${MIRROR_WAIT_MS / 1000} s: machine or network are busy`;
class NoMirror extends Error {}

export class LiveSource implements Live {
  readonly kind = 'live';
  readonly client: Client;
  readonly name: string;
  readonly #tickRateHz: number;

  constructor(client: Client) {
    this.client = client;
    const session = client.session();
    this.name = session?.sceneName || 'a scene without a name';
    this.#tickRateHz = session?.tickRateHz ?? 60;
  }
  sample = () => this.client.sample();
  body = (id: bigint) => this.client.body(id);
  shape = (index: number) => this.client.shape(index);
  ownBody = () => this.client.ownBody();
  tickRateHz = () => this.#tickRateHz;
}

export class Connection {
  readonly #token: Uint8Array | null;
  readonly #onLive: (live: LiveSource) => void;
  readonly #onState: (state: State) => void;
  #options: Partial<ConnectOptions> = {};
  /** Whether the server is asked for director's tokens, where the link has no token. */
  director: boolean;
  #client: Client | null = null;
  #attempt = 0;  // the newest one counts
  #snapshots: string | null;  // why there is no mirror
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `link`: its token, without which the server is asked for tokens; whether no mirror is tried. */
  constructor(link: Pick<Link, 'token' | 'snapshots' | 'director'>, onLive: (live: LiveSource) => void,
              onState: (state: State) => void) {
    this.#token = link.token;
    this.director = link.director;
    this.#snapshots = link.snapshots ? 'The link asks for snapshots' : null;
    this.#onLive = onLive;
    this.#onState = onState;
  }
  get client(): Client | null {
    return this.#client;
  }

  /** Connects; what there was before ends. `options` stay for later attempts. */
  async connect(options: Partial<ConnectOptions> = {}): Promise<void> {
    this.close();
    const attempt = this.#attempt;
    if (options.mode === 'mirror') this.#snapshots = null;
    if (options.mode === 'snapshots') this.#snapshots = 'Snapshots were chosen';
    Object.assign(this.#options, options);
    this.#onState({ kind: 'joining', text: 'Connecting' });
    try {
      const client = await this.#join();
      if (attempt !== this.#attempt) return client.close();
      this.#take(client);
    } catch (error) {
      if (attempt === this.#attempt) this.#failed(error);
    }
  }
  close(): void {
    ++this.#attempt;
    clearTimeout(this.#timer);
    this.#client?.close();
    this.#client = null;
  }

  async #join(): Promise<Client> {
    const { protocol, host } = location;
    const base: ConnectOptions = {
      url: `${protocol === 'https:' ? 'wss' : 'ws'}://${host}/play`, ...this.#options,
      ...(this.#token ? { token: this.#token } : { tokenUrl: this.director ? '/token?role=director' : '/token' }),
    };
    if (this.#snapshots === null) {
      const since = performance.now();
      const joining = (client: Client) => this.#joining(client, since);
      try {
        return await Client.connect({ prediction: {}, ...base, mode: 'mirror', wasm: await simModule(), joining });
      } catch (error) {
        this.#snapshots = whyNoMirror(error);
        if (this.#snapshots === null) throw error;
      }
    }
    return Client.connect({ ...base, mode: 'snapshots', wasm: await plainModule() });
  }
  #joining(client: Client, since: number): void {
    this.#onState({ kind: 'joining', text: `Joining ${client.session()?.sceneName ?? ''}` });
    if (client.stats().bytesReceived > MIRROR_BYTES) throw new NoMirror(TOO_LARGE);
    if (performance.now() - since > MIRROR_WAIT_MS) throw new NoMirror(TOO_SLOW);
  }
  #take(client: Client): void {
    this.#client = client;
    const live = () => {
      const mode = this.#snapshots === null ? 'mirror' : 'snapshots';
      this.#onLive(new LiveSource(client));
      this.#onState({ kind: 'live', mode, notice: this.#snapshots });
    };
    client.on('connected', live);
    client.on('reconnecting', ({ text }) => this.#onState({ kind: 'reconnecting', text }));
    client.on('disconnected', ({ reason, text }) => {
      if (this.#client !== client) return;
      if (reason === C.END_TOO_SLOW && this.#snapshots === null) {
        this.#snapshots = 'This page could not step the world as fast as the server does';
        return void this.connect();
      }
      this.#failed(new ConnectionError(reason, text));
    });
    live();
  }
  #failed(error: unknown): void {
    this.close();
    const { text, advice, again } = adviceFor(error, this.#token !== null, this.director);
    this.#onState({ kind: 'ended', text, advice, again });
    if (again) this.#timer = setTimeout(() => void this.connect(), AGAIN_MS);
  }
}

/** Null: the error is of another kind, and snapshots would not come about either. */
function whyNoMirror(error: unknown): string | null {
  if (error instanceof NoMirror) return error.message;
  if (!(error instanceof ConnectionError)) return null;
  if (error.reason === C.END_WORLD_TOO_LARGE) return TOO_LARGE;
  const refused = error.reason === C.END_MIRROR || (error.reason === C.END_REFUSED && /mirror/.test(error.message));
  return refused ? 'The server does not allow mirrors (its option --allow-mirror)' : null;
}
