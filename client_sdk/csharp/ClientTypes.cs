// What a Client takes and gives: settings, events, the room, and the bodies' states in arrays that are reused.
using System;
using System.Globalization;
using System.Runtime.InteropServices;

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
        /// <summary>Disconnected, TokenNeeded: the reason in English; Board: the key; Diverged: the part of the state
        /// that differs first; otherwise "".</summary>
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
        /// <summary>World: whether it has happened, or is predicted by a mirror.</summary>
        public CertaintyKind Certainty;
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
}
