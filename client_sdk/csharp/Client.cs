// A client of a room for C#. It is a thin layer over OrreryNative.cs, which generate.py makes from orrery/client.h.
// Units, frames and errors are those of that header. It needs C# 7 and .NET Standard 2.0, and no unsafe code.
//
// One thread at a time may use a client. Times are nanoseconds of a monotonic clock, the same one in every call;
// Client.NowNs() is one. Poll, NextEvent, SetControl and Sample allocate nothing, except for the text of an event that
// has one and for arrays of Samples that have to grow.
using System;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Text;

namespace Orrery
{
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
        static readonly orrery_log_write WriteLog = OnLog;  // kept, as the next one: C has a pointer to it
        static readonly orrery_prediction_clock ReadClock = OnClock;
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
            happened.Certainty = (CertaintyKind)raw.certainty;
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

        // ---------------------------------------------------------------------------------- mirror mode, prediction

        /// <summary>How the next connection sees the world. The methods of mirror mode below return
        /// Status.WrongState before ModeKind.Mirror is set.</summary>
        public Status SetMode(ModeKind mode)
        {
            return (Status)Native.orrery_client_set_mode(Handle, (int)mode);
        }

        /// <summary>The room's scene, JSON or binary, so that it need not be sent.</summary>
        public Status GiveScene(byte[] scene)
        {
            return (Status)Native.orrery_client_give_scene(Handle, scene, Size(scene));
        }

        /// <summary>Prediction of a mirror, at any time. As many ticks are predicted as can be stepped again in
        /// maxRollbackMs; 0: 8 ms. A control acts inputDelayTicks later, 0 to 6.</summary>
        public Status SetPrediction(bool on, uint inputDelayTicks = 0, float maxRollbackMs = 0.0f)
        {
            var prediction = new orrery_prediction
            {
                struct_size = (uint)Marshal.SizeOf(typeof(orrery_prediction)),
                on = on ? 1 : 0,
                input_delay_ticks = inputDelayTicks,
                max_rollback_ms = maxRollbackMs,
                clock = Marshal.GetFunctionPointerForDelegate(ReadClock)
            };
            return (Status)Native.orrery_client_set_prediction(Handle, ref prediction);
        }

        /// <summary>Which events of its own world a mirror tells as EventKind.World, instead of those that the room
        /// tells: bits of MirrorKind; hits of at least leastHitImpulse, N s. ClientEvent.Certainty says which of them
        /// are predicted.</summary>
        public Status SetMirrorEvents(MirrorKind kinds, float leastHitImpulse = 0.0f)
        {
            return (Status)Native.orrery_client_set_mirror_events(Handle, (uint)kinds, leastHitImpulse);
        }

        /// <summary>Numbers of a mirror, as orrery_mirror_stats describes them. False: the mode is another.</summary>
        public bool MirrorStats(out orrery_mirror_stats stats)
        {
            stats = new orrery_mirror_stats { struct_size = (uint)Marshal.SizeOf(typeof(orrery_mirror_stats)) };
            return Native.orrery_client_get_mirror_stats(Handle, ref stats) == Native.ORRERY_OK;
        }

        // -------------------------------------------------------------------------------------------------- helpers

        [MonoPInvokeCallback(typeof(orrery_prediction_clock))]
        static ulong OnClock(IntPtr user)
        {
            return NowNs();
        }

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
