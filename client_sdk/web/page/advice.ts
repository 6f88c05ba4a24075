// Why a connection ended, and what to do about it.
import { ConnectionError, constants as C } from '../src/client.js';

interface Advice {
  text: string;
  advice: string;
  /** The page tries again by itself. */
  again: boolean;
}

const START = 'The page connects by itself when the server is there again: deploy/run, or orrery serve.';
const RELOAD = 'Reload the page: it is then that of the server.';

const BY_REASON: Record<number, [string, boolean]> = {
  [C.END_NO_ANSWER]: [START, true],
  [C.END_SERVER_STOPPED]: [START, true],
  [C.END_TIMED_OUT]: [START, true],
  [C.END_TOKEN]: ['Each token is used once, within its time. Ask for a fresh link, or reload the page.', false],
  [C.END_DENIED]: ['Wait until somebody leaves, or serve with a larger --max-clients.', true],
  [C.END_REFUSED]: [RELOAD, false],
  [C.END_UNREADABLE]: [RELOAD, false],
  [C.END_PROTOCOL_ERROR]: [RELOAD, false],
  [C.END_TOO_SLOW]: ['This page took too long: close others, or take snapshots (#mode=snapshots in the link).', true],
  [C.END_HANDSHAKE]: ['The network is slow; the page tries again.', true],
  [C.END_WORLD_TOO_LARGE]: ['The scene has more bodies than a page can be told. Serve a smaller one.', false],
  [C.END_UNACKNOWLEDGED]: ['The page was asleep or the network is slow; it tries again.', true],
  [C.END_KICKED]: ['Whoever runs the server decides when you may come back.', false],
  [C.END_REPLACED]: ['You play in another page now. Reload to take over here.', false],
};

/** `byLink`: the token was in the link, so that there is no second one. `director`: a director's token was asked
 * for. */
export function adviceFor(error: unknown, byLink: boolean, director: boolean): Advice {
  if (error instanceof ConnectionError) {
    const [advice, again] = BY_REASON[error.reason] ?? ['Reload the page to try again.', false];
    const text = error.message || 'The connection ended';
    return byLink ? { text, advice: 'The token in the link is used up. Ask for a fresh link.', again: false }
                  : { text, advice, again };
  }
  const text = error instanceof Error ? error.message : String(error);
  if (director && /HTTP status 403/.test(text))
    return { text: "This server gives this page no director's token",
             advice: 'Its option --hands is needed. To drive, take role=director out of the link.', again: false };
  if (/HTTP status 403/.test(text))
    return { text: 'This server gives this page no token',
             advice: 'It gives them to pages of its own machine alone. Ask its owner for a link with #token=.',
             again: false };
  if (/HTTP status 429/.test(text))
    return { text: 'Too many pages ask for tokens', advice: 'The page tries again.', again: true };
  if (error instanceof TypeError || /HTTP status/.test(text) || (error instanceof DOMException))
    return { text: 'The server does not answer', advice: START, again: true };
  return { text, advice: RELOAD, again: false };
}
