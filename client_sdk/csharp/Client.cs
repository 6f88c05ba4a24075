// A client of a room for C#: ownership, events as a struct, arrays that are reused. It is a thin layer over
// OrreryNative.cs, which generate.py makes from orrery/client.h. Units, frames and errors are those of that header.
// It needs C# 7 and .NET Standard 2.0, and no unsafe code.
//
// One thread at a time may use a client. Times are nanoseconds of a monotonic clock, the same one in every call;
// Client.NowNs() is one. Poll, NextEvent, SetControl and Sample allocate nothing, except for the text of an event that
// has one and for arrays of Samples that have to grow.
using System;
using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Text;

namespace Orrery
{
    /// <summary>Three numbers: metres, metres a second or a direction; world axes, right-handed, y up.</summary>
    public struct Vec3
    {
        public float X, Y, Z;

        public Vec3(float x, float y, float z)
        {
            X = x;
            Y = y;
            Z = z;
        }

        public override string ToString()
        {
            return string.Format(CultureInfo.InvariantCulture, "{0:0.00} {1:0.00} {2:0.00}", X, Y, Z);
        }
    }

    /// <summary>Settings of a client. 0 and null mean the default.</summary>
    public sealed class ClientSettings
    {
        /// <summary>A server of another engine version refuses this client; 0: any.</summary>
        public uint EngineVersion;
        /// <summary>A server with another scene refuses this client; 0: any.</summary>
        public ulong SceneHash;
        /// <summary>Least delay of the jitter buffer, in tenths of a tick; 0: 15.</summary>
        public uint MinDelayTicksX10;
        /// <summary>Largest delay of the jitter buffer, in tenths of a tick; 0: 150.</summary>
        public uint MaxDelayTicksX10;
        /// <summary>Takes log lines, during calls of the client, on their thread. What it throws is lost.</summary>
        public Action<LogKind, string> Log;
    }

    /// <summary>A thing that happened. Fields that its kind does not name have their defaults; orrery_event says
    /// which fields a kind has.</summary>
    public struct ClientEvent
    {
        public EventKind Kind;
        /// <summary>Of the server.</summary>
        public ulong Tick;
        /// <summary>BodyAdded, BodyRemoved, World; otherwise Native.ORRERY_NO_BODY.</summary>
        public ulong Body;
        /// <summary>Slipped: so many nanoseconds.</summary>
        public ulong LateNs;
        /// <summary>Disconnected, TokenNeeded: the reason in English; Board: the key; otherwise "".</summary>
        public string Text;
        public EndKind EndReason;
        /// <summary>Message: what the room's program takes it for.</summary>
        public ushort MessageType;
        public bool Reliable;
        /// <summary>Board: the key is gone.</summary>
        public bool Removed;
        /// <summary>World: says which of the fields below are set.</summary>
        public WorldKind WorldKind;
        public ulong Other;
        public ulong Joint;
        /// <summary>m, world.</summary>
        public Vec3 Point;
        /// <summary>A unit vector from Body to Other, world.</summary>
        public Vec3 Normal;
        /// <summary>N s; JointBroken: N.</summary>
        public float Impulse;
        /// <summary>Message, Board, Scene: the bytes, valid until the next call of NextEvent.</summary>
        public IntPtr BytesPointer;
        /// <summary>Number of the bytes.</summary>
        public int Size;

        /// <summary>A copy of the bytes; before the next call of NextEvent.</summary>
        public byte[] ToArray()
        {
            return Client.Copied(BytesPointer, Size);
        }

        /// <summary>Copies the bytes to the front of an array that is kept. False: it is too small, and nothing was
        /// copied. Before the next call of NextEvent.</summary>
        public bool CopyTo(byte[] array)
        {
            if (array.Length < Size) return false;
            if (Size > 0) Marshal.Copy(BytesPointer, array, 0, Size);
            return true;
        }
    }

    /// <summary>The room of a client; orrery_session describes the fields.</summary>
    public sealed class Session
    {
        public float TickRateHz;
        public ulong SceneHash;
        public ulong ClientIndex;
        /// <summary>The player's slot, or Native.ORRERY_NO_SLOT.</summary>
        public uint Slot;
        public uint EngineVersion;
        public uint ShapeCount;
        public uint BodyCount;
        public string SceneName;
        public RoleKind Role;
        /// <summary>Size of the scene's binary form; 0: the server does not give it away.</summary>
        public uint SceneBytes;
        public ulong SceneBytesHash;
    }

    /// <summary>What can be known of a body, beside its motion; orrery_body describes the fields.</summary>
    public sealed class BodyInfo
    {
        public BodyKind Type;
        /// <summary>For Client.Shape, or Native.ORRERY_NO_SHAPE.</summary>
        public uint Shape;
        /// <summary>Of the player for whom it was spawned, or Native.ORRERY_NO_SLOT.</summary>
        public uint Slot;
        public string Name, TemplateName, MemberName, MaterialName;
        /// <summary>Native.ORRERY_NO_TEMPLATE: none.</summary>
        public uint TemplateIndex;
        public uint MemberIndex;
        public ulong UserData;
    }

    /// <summary>All bodies at one time, in arrays that are kept from frame to frame. Entry i of each belongs to
    /// Ids[i]; the first Count entries are set. The arrays are pinned until Dispose, and are replaced when they grow:
    /// read them anew after each Client.Sample.</summary>
    public sealed class Samples : IDisposable
    {
        GCHandle[] pins = new GCHandle[0];
        internal orrery_samples Raw;

        /// <summary>Bodies that were filled in.</summary>
        public int Count { get { return (int)Raw.count; } }
        /// <summary>The time that the states belong to, in ticks of the server, with a fraction.</summary>
        public double Tick { get { return Raw.tick; } }
        public ulong[] Ids { get; private set; }
        /// <summary>x, y, z of each body's centre of mass, m, world.</summary>
        public float[] Positions { get; private set; }
        /// <summary>x, y, z, w of each body: its frame to the world's.</summary>
        public float[] Orientations { get; private set; }
        /// <summary>x, y, z of each body, m/s, world.</summary>
        public float[] LinearVelocities { get; private set; }
        /// <summary>x, y, z of each body, rad/s, world.</summary>
        public float[] AngularVelocities { get; private set; }

        /// <summary>With room for so many bodies; grows with the first sample of a room that has more.</summary>
        public Samples(int capacity = 256)
        {
            Raw.struct_size = (uint)Marshal.SizeOf(typeof(orrery_samples));
            Reserve(capacity);
        }

        /// <summary>The entry of a body, or -1. Ids are in order of their index, the low 32 bits.</summary>
        public int IndexOf(ulong id)
        {
            int low = 0, high = Count - 1;
            while (low <= high)
            {
                int middle = (low + high) / 2;
                uint there = (uint)Ids[middle], wanted = (uint)id;
                if (there == wanted) return Ids[middle] == id ? middle : -1;
                if (there < wanted) low = middle + 1; else high = middle - 1;
            }
            return -1;
        }

        public Vec3 Position(int entry)
        {
            return new Vec3(Positions[3 * entry], Positions[3 * entry + 1], Positions[3 * entry + 2]);
        }

        internal void Reserve(int bodies)
        {
            Dispose();
            Ids = new ulong[bodies];
            Positions = new float[3 * bodies];
            Orientations = new float[4 * bodies];
            LinearVelocities = new float[3 * bodies];
            AngularVelocities = new float[3 * bodies];
            Array[] arrays = { Ids, Positions, Orientations, LinearVelocities, AngularVelocities };
            pins = new GCHandle[arrays.Length];
            for (int i = 0; i < arrays.Length; ++i) pins[i] = GCHandle.Alloc(arrays[i], GCHandleType.Pinned);
            Raw.capacity = (uint)bodies;
            Raw.ids = pins[0].AddrOfPinnedObject();
            Raw.positions = pins[1].AddrOfPinnedObject();
            Raw.orientations = pins[2].AddrOfPinnedObject();
            Raw.linear_velocities = pins[3].AddrOfPinnedObject();
            Raw.angular_velocities = pins[4].AddrOfPinnedObject();
            GC.ReRegisterForFinalize(this);
        }

        /// <summary>Unpins the arrays, which can be read further. The next Client.Sample makes new ones.</summary>
        public void Dispose()
        {
            foreach (GCHandle pin in pins) pin.Free();
            pins = new GCHandle[0];
            Raw.capacity = 0;
            GC.SuppressFinalize(this);
        }

        ~Samples()
        {
            foreach (GCHandle pin in pins) pin.Free();
        }
    }

    /// <summary>Marks methods that C calls, for compilers ahead of time (Unity's IL2CPP), which go by the name of the
    /// attribute.</summary>
    [AttributeUsage(AttributeTargets.Method)]
    sealed class MonoPInvokeCallbackAttribute : Attribute
    {
        public MonoPInvokeCallbackAttribute(Type type) { }
    }

    /// <summary>A client of a room. Methods that return a Status are the functions of orrery/client.h with the same
    /// names. After Dispose every method throws ObjectDisposedException.</summary>
    public sealed class Client : IDisposable
    {
        static readonly uint EventSize = (uint)Marshal.SizeOf(typeof(orrery_event));
        static readonly orrery_log_write WriteLog = OnLog;  // kept: C has a pointer to it
        IntPtr handle;
        GCHandle log;  // the settings' function, as long as C may call it
        orrery_event raw;

        /// <summary>A client that is not connected. Throws OutOfMemoryException, ArgumentException, and
        /// DllNotFoundException without the library.</summary>
        public Client(ClientSettings settings = null)
        {
            var config = new orrery_client_config();
            Native.orrery_client_config_init(ref config);
            if (settings != null)
            {
                config.engine_version = settings.EngineVersion;
                config.scene_hash = settings.SceneHash;
                config.min_delay_ticks_x10 = settings.MinDelayTicksX10;
                config.max_delay_ticks_x10 = settings.MaxDelayTicksX10;
                if (settings.Log != null)
                {
                    log = GCHandle.Alloc(settings.Log);
                    config.log.write = Marshal.GetFunctionPointerForDelegate(WriteLog);
                    config.log.user = GCHandle.ToIntPtr(log);
                }
            }
            Status status = (Status)Native.orrery_client_create(ref config, ref handle);
            if (status == Status.Ok) return;
            Free();
            GC.SuppressFinalize(this);
            if (status == Status.OutOfMemory) throw new OutOfMemoryException();
            throw new ArgumentException(NameOf(status));
        }

        /// <summary>Frees the client. It sends nothing: call Disconnect first, so that the server knows at once.
        /// </summary>
        public void Dispose()
        {
            Free();
            GC.SuppressFinalize(this);
        }

        ~Client()
        {
            Free();
        }

        void Free()
        {
            IntPtr freed = handle;
            handle = IntPtr.Zero;
            if (freed != IntPtr.Zero) Native.orrery_client_destroy(freed);
            if (log.IsAllocated) log.Free();
        }

        /// <summary>The orrery_client, for functions of Native that this class does not have. It stays this object's.
        /// </summary>
        public IntPtr Handle
        {
            get
            {
                if (handle == IntPtr.Zero) throw new ObjectDisposedException("Orrery.Client");
                return handle;
            }
        }

        /// <summary>A monotonic clock, ns. It goes on while a game is paused.</summary>
        public static ulong NowNs()
        {
            // In two parts, so that the product stays below 64 bits.
            ulong ticks = (ulong)Stopwatch.GetTimestamp(), rate = (ulong)Stopwatch.Frequency;
            return ticks / rate * 1000000000ul + ticks % rate * 1000000000ul / rate;
        }

        /// <summary>A short English text for a status.</summary>
        public static string NameOf(Status status)
        {
            return Text(Native.orrery_status_name((int)status));
        }

        // ---------------------------------------------------------------------------------------------- connection

        public ClientState State { get { return (ClientState)Native.orrery_client_get_state(Handle); } }

        public Status Connect(byte[] token, ulong nowNs)
        {
            return (Status)Native.orrery_client_connect(Handle, token, Size(token), nowNs);
        }

        /// <summary>For development, with a server that runs with --insecure. server: "127.0.0.1:7770".</summary>
        public Status ConnectInsecure(string server, ulong nowNs)
        {
            return (Status)Native.orrery_client_connect_insecure(Handle, Utf8(server), nowNs);
        }

        public Status Disconnect(ulong nowNs)
        {
            return (Status)Native.orrery_client_disconnect(Handle, nowNs);
        }

        /// <summary>For so many seconds after a loss the client can be connected anew: see EventKind.TokenNeeded.
        /// </summary>
        public Status SetReconnect(uint seconds)
        {
            return (Status)Native.orrery_client_set_reconnect(Handle, seconds);
        }

        public Status Renew(byte[] token, ulong nowNs)
        {
            return (Status)Native.orrery_client_renew(Handle, token, Size(token), nowNs);
        }

        // ----------------------------------------------------------------------------------------------- each frame

        public Status Poll(ulong nowNs)
        {
            return (Status)Native.orrery_client_poll(Handle, nowNs);
        }

        /// <summary>Channels in [-1, 1], at most Native.ORRERY_CONTROL_CHANNELS, until the next call.</summary>
        public Status SetControl(float[] channels)
        {
            return (Status)Native.orrery_client_set_control(Handle, channels, (UIntPtr)channels.Length);
        }

        /// <summary>False: no event is waiting. Take all events after each Poll.</summary>
        public bool NextEvent(out ClientEvent happened)
        {
            happened = new ClientEvent();
            raw.struct_size = EventSize;
            if (Native.orrery_client_next_event(Handle, ref raw) != Native.ORRERY_OK) return false;
            happened.Kind = (EventKind)raw.kind;
            happened.Tick = raw.tick;
            happened.Body = raw.body;
            happened.LateNs = raw.late_ns;
            happened.Text = Text(raw.text);
            happened.EndReason = (EndKind)raw.end_reason;
            happened.MessageType = (ushort)raw.message_type;
            happened.Reliable = raw.reliable != 0;
            happened.Removed = raw.removed != 0;
            happened.WorldKind = (WorldKind)raw.world_kind;
            happened.Other = raw.other;
            happened.Joint = raw.joint;
            happened.Point = new Vec3(raw.point_0, raw.point_1, raw.point_2);
            happened.Normal = new Vec3(raw.normal_0, raw.normal_1, raw.normal_2);
            happened.Impulse = raw.impulse;
            happened.BytesPointer = raw.bytes;
            happened.Size = (int)raw.size;
            return true;
        }

        /// <summary>Reads all bodies as they are shown at nowNs. The arrays grow if they are too small.</summary>
        public Status Sample(ulong nowNs, Samples samples)
        {
            Status status = (Status)Native.orrery_client_sample(Handle, nowNs, ref samples.Raw);
            if (status != Status.TooSmall) return status;
            samples.Reserve((int)samples.Raw.available + (int)samples.Raw.available / 2);
            return (Status)Native.orrery_client_sample(Handle, nowNs, ref samples.Raw);
        }

        /// <summary>The first body of this player, or Native.ORRERY_NO_BODY.</summary>
        public ulong OwnBody { get { return Native.orrery_client_own_body(Handle); } }

        // ------------------------------------------------------------------------------------------ messages, board

        public Status Send(ushort type, byte[] bytes, bool reliable = true)
        {
            return (Status)Native.orrery_client_send(Handle, type, bytes, Size(bytes), reliable ? 1 : 0);
        }

        /// <summary>The first `size` bytes of an array that is kept.</summary>
        public Status Send(ushort type, byte[] bytes, int size, bool reliable)
        {
            if (size < 0 || size > bytes.Length) throw new ArgumentOutOfRangeException("size");
            return (Status)Native.orrery_client_send(Handle, type, bytes, (UIntPtr)size, reliable ? 1 : 0);
        }

        /// <summary>A copy of the value of a key; null: there is no such key.</summary>
        public byte[] Board(string key)
        {
            IntPtr bytes = IntPtr.Zero;
            UIntPtr size = UIntPtr.Zero;
            Status status = (Status)Native.orrery_client_board_get(Handle, Utf8(key), ref bytes, ref size);
            return status == Status.Ok ? Copied(bytes, (int)size) : null;
        }

        public int BoardCount { get { return (int)Native.orrery_client_board_count(Handle); } }

        /// <summary>By index in the order of the keys, below BoardCount; false: there is no such index.</summary>
        public bool BoardAt(int index, out string key, out byte[] value)
        {
            IntPtr name = IntPtr.Zero, bytes = IntPtr.Zero;
            UIntPtr size = UIntPtr.Zero;
            Status status = (Status)Native.orrery_client_board_at(Handle, (uint)index, ref name, ref bytes, ref size);
            key = status == Status.Ok ? Text(name) : "";
            value = status == Status.Ok ? Copied(bytes, (int)size) : null;
            return status == Status.Ok;
        }

        // ---------------------------------------------------------------------------------------------------- world

        /// <summary>Null: the server's answer has not arrived.</summary>
        public Session Session()
        {
            var s = new orrery_session { struct_size = (uint)Marshal.SizeOf(typeof(orrery_session)) };
            if (Native.orrery_client_get_session(Handle, ref s) != Native.ORRERY_OK) return null;
            return new Session
            {
                TickRateHz = s.tick_rate_hz,
                SceneHash = s.scene_hash,
                ClientIndex = s.client_index,
                Slot = s.slot,
                EngineVersion = s.engine_version,
                ShapeCount = s.shape_count,
                BodyCount = s.body_count,
                SceneName = Text(s.scene_name),
                Role = (RoleKind)s.role,
                SceneBytes = s.scene_bytes,
                SceneBytesHash = s.scene_bytes_hash
            };
        }

        /// <summary>Null: there is no such body.</summary>
        public BodyInfo Body(ulong id)
        {
            var b = new orrery_body { struct_size = (uint)Marshal.SizeOf(typeof(orrery_body)) };
            if (Native.orrery_client_get_body(Handle, id, ref b) != Native.ORRERY_OK) return null;
            return new BodyInfo
            {
                Type = (BodyKind)b.type,
                Shape = b.shape,
                Slot = b.slot,
                Name = Text(b.name),
                TemplateName = Text(b.template_name),
                MemberName = Text(b.member_name),
                MaterialName = Text(b.material_name),
                TemplateIndex = b.template_index,
                MemberIndex = b.member_index,
                UserData = b.user_data
            };
        }

        /// <summary>False: there is no such shape.</summary>
        public bool Shape(uint index, out orrery_shape shape)
        {
            shape = new orrery_shape { struct_size = (uint)Marshal.SizeOf(typeof(orrery_shape)) };
            return Native.orrery_client_get_shape(Handle, index, ref shape) == Native.ORRERY_OK;
        }

        /// <summary>Asks for the scene's binary form; EventKind.Scene tells when it has come.</summary>
        public Status RequestScene()
        {
            return (Status)Native.orrery_client_request_scene(Handle);
        }

        /// <summary>A copy of the scene's binary form; null before it has come.</summary>
        public byte[] Scene()
        {
            IntPtr bytes = IntPtr.Zero;
            UIntPtr size = UIntPtr.Zero;
            Status status = (Status)Native.orrery_client_scene(Handle, ref bytes, ref size);
            return status == Status.Ok ? Copied(bytes, (int)size) : null;
        }

        /// <summary>Numbers of the connection, as orrery_client_stats describes them.</summary>
        public orrery_client_stats Stats()
        {
            var stats = new orrery_client_stats { struct_size = (uint)Marshal.SizeOf(typeof(orrery_client_stats)) };
            Native.orrery_client_get_stats(Handle, ref stats);
            return stats;
        }

        // -------------------------------------------------------------------------------------------------- helpers

        [MonoPInvokeCallback(typeof(orrery_log_write))]
        static void OnLog(IntPtr user, int level, IntPtr text)
        {
            try
            {
                ((Action<LogKind, string>)GCHandle.FromIntPtr(user).Target)((LogKind)level, Text(text));
            }
            catch (Exception)
            {
                // An exception must not cross the C code below.
            }
        }

        static UIntPtr Size(byte[] bytes)
        {
            return bytes == null ? UIntPtr.Zero : (UIntPtr)bytes.Length;
        }

        // UTF-8 with a 0 at its end.
        static byte[] Utf8(string text)
        {
            var bytes = new byte[Encoding.UTF8.GetByteCount(text) + 1];
            Encoding.UTF8.GetBytes(text, 0, text.Length, bytes, 0);
            return bytes;
        }

        static string Text(IntPtr utf8)
        {
            if (utf8 == IntPtr.Zero || Marshal.ReadByte(utf8) == 0) return "";
            int size = 0;
            while (Marshal.ReadByte(utf8, size) != 0) ++size;
            return Encoding.UTF8.GetString(Copied(utf8, size));
        }

        internal static byte[] Copied(IntPtr bytes, int size)
        {
            var copy = new byte[size];
            if (size > 0) Marshal.Copy(bytes, copy, 0, size);
            return copy;
        }
    }
}
