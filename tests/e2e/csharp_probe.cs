// What tests/e2e/csharp.py asks of the C# binding.
//
//   mono csharp_probe.exe layout         structs, fields, constants and functions, a line each
//   mono csharp_probe.exe offline        what can be seen without a server, by a clock of its own
//   mono csharp_probe.exe frames TOKEN   the bytes that a frame of a playing client allocates
//   mono csharp_probe.exe mirror TOKEN SCENE   what a mirror of the yard that predicts counts and is told
//   mono csharp_probe.exe game ADDRESS   messages and the board of client_sdk/examples/sumo, until its host stops
using System;
using System.Collections.Generic;
using System.IO;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;
using Orrery;

static class Probe
{
    static int Main(string[] arguments)
    {
        if (arguments[0] == "layout") Layout();
        if (arguments[0] == "offline") Offline();
        if (arguments[0] == "frames") Frames(File.ReadAllBytes(arguments[1]));
        if (arguments[0] == "game") Game(arguments[1]);
        if (arguments[0] == "mirror") Mirror(File.ReadAllBytes(arguments[1]), File.ReadAllBytes(arguments[2]));
        return 0;
    }

    static void Check(bool condition, string text)
    {
        if (!condition) throw new Exception(text);
    }

    static void Layout()
    {
        foreach (Type type in typeof(Native).Assembly.GetTypes())
        {
            if (!type.IsValueType || type.IsEnum || !type.Name.StartsWith("orrery_")) continue;
            Console.WriteLine("struct {0} {1}", type.Name, Marshal.SizeOf(type));
            foreach (FieldInfo field in type.GetFields())
                Console.WriteLine("field {0} {1} {2}", type.Name, field.Name, Marshal.OffsetOf(type, field.Name));
        }
        foreach (FieldInfo field in typeof(Native).GetFields())
            if (field.IsLiteral && field.Name != "Library")
                Console.WriteLine("constant {0} {1}", field.Name, field.GetRawConstantValue());
        const BindingFlags own = BindingFlags.Public | BindingFlags.Static | BindingFlags.DeclaredOnly;
        foreach (MethodInfo method in typeof(Native).GetMethods(own))
        {
            Marshal.Prelink(method);  // throws if the library has no such function
            Console.WriteLine("function {0}", method.Name);
        }
    }

    static void Offline()
    {
        var lines = new List<string>();
        using (var client = new Client(new ClientSettings { Log = (level, text) => lines.Add(level + " " + text) }))
        {
            Check(client.State == ClientState.Disconnected, "a new client is not disconnected");
            Check(client.Connect(new byte[Native.ORRERY_TOKEN_BYTES], 1) == Status.InvalidToken, "zeros are a token");
            Check(client.Connect(null, 1) == Status.InvalidArgument, "null is a token");
            Check(client.ConnectInsecure("nowhere", 1) == Status.InvalidArgument, "an address that is none");
            Check(client.Send(1, new byte[3]) == Status.WrongState, "a message leaves before a connection");
            Check(client.Session() == null && client.Body(0) == null && client.Scene() == null,
                  "a room before a connection");
            Check(client.Board("k") == null && client.BoardCount == 0, "a board before a connection");
            Check(client.SetControl(new float[9]) == Status.InvalidArgument, "nine channels");
            orrery_mirror_stats numbers;
            Check(client.SetPrediction(true) == Status.WrongState && !client.MirrorStats(out numbers) &&
                      client.SetMirrorEvents(MirrorKind.Hits) == Status.WrongState,
                  "a mirror in the mode of snapshots");
            Check(client.SetMode((ModeKind)9) == Status.InvalidArgument, "a mode that does not exist");
            Check(client.SetMode(ModeKind.Mirror) == Status.Ok && client.MirrorStats(out numbers), "no mode mirror");
            Check(client.SetPrediction(true, 7) == Status.InvalidArgument, "a delay of seven ticks");
            Check(client.SetMode(ModeKind.Snapshots) == Status.Ok, "no mode of snapshots");
            Check(Client.NameOf(Status.WrongState) == "wrong state", Client.NameOf(Status.WrongState));
            using (var samples = new Samples())
                Check(client.Sample(1, samples) == Status.WrongState, "states before a connection");

            ulong now = 1000000000;
            Check(client.ConnectInsecure("127.0.0.1:9", now) == Status.Ok, "no attempt to connect");
            var happened = new ClientEvent();
            for (int i = 0; i < 3000 && happened.Kind != EventKind.Disconnected; ++i)
            {
                if (i % 100 == 0) GC.Collect();  // what C has pointers to must stay
                client.Poll(now += 100000000);
                while (client.NextEvent(out happened) && happened.Kind != EventKind.Disconnected) { }
            }
            Check(happened.Kind == EventKind.Disconnected && happened.EndReason == EndKind.NoAnswer,
                  "the end: " + happened.EndReason);
            Check(happened.Text.Length > 20, "the end has no reason: " + happened.Text);
            Check(lines.Exists(line => line.StartsWith("Warning ") && line.Contains("127.0.0.1:9")),
                  "no warning: " + string.Join("; ", lines));
            client.Dispose();
            try
            {
                client.Poll(now);
                Check(false, "a disposed client polls");
            }
            catch (ObjectDisposedException)
            {
            }
        }
        new Client(new ClientSettings { Log = (level, text) => { } });  // the finalizer frees it
        GC.Collect();
        GC.WaitForPendingFinalizers();
        Console.WriteLine("offline holds");
    }

    static void Game(string address)
    {
        const ushort shove = 1, says = 2;
        using (var client = new Client())
        {
            Check(client.ConnectInsecure(address, Client.NowNs()) == Status.Ok, "no attempt to connect");
            var keys = new Dictionary<string, string>();
            ulong giveUp = Client.NowNs() + 30000000000ul;
            bool sent = false;
            for (;;)
            {
                Check(Client.NowNs() < giveUp, "the host does not stop");
                client.Poll(Client.NowNs());
                ClientEvent happened;
                while (client.NextEvent(out happened))
                {
                    string text = Encoding.UTF8.GetString(happened.ToArray());
                    var kept = new byte[64];
                    Check(happened.CopyTo(kept) && Encoding.UTF8.GetString(kept, 0, happened.Size) == text,
                          "two copies differ");
                    Check(happened.Size == 0 || !happened.CopyTo(new byte[happened.Size - 1]),
                          "a copy into too small an array");
                    if (happened.Kind == EventKind.Board) keys[happened.Text] = text;
                    if (happened.Kind == EventKind.Message && happened.MessageType == says && happened.Reliable)
                        Console.WriteLine("said {0}", text);
                    if (happened.Kind != EventKind.Disconnected) continue;
                    Console.WriteLine("end {0} {1}", happened.EndReason, happened.Text);
                    foreach (KeyValuePair<string, string> pair in keys)
                        Check(Encoding.UTF8.GetString(client.Board(pair.Key)) == pair.Value,
                              "the board has another " + pair.Key);
                    Check(client.BoardCount == keys.Count, "the board has other keys");
                    for (int i = 0; i < client.BoardCount; ++i)
                    {
                        string key;
                        byte[] value;
                        Check(client.BoardAt(i, out key, out value) && keys[key] == Encoding.UTF8.GetString(value),
                              "key " + i);
                        Console.WriteLine("board {0} {1}", key, keys[key]);
                    }
                    return;
                }
                if (client.State == ClientState.Playing && !sent)
                {
                    sent = true;
                    Check(client.Send(shove, new byte[0]) == Status.Ok, "no message leaves");
                    Check(client.Send(shove, new byte[Native.ORRERY_MAX_MESSAGE_BYTES + 1]) == Status.TooLarge,
                          "a message is too large");
                    Check(client.Send(shove, new byte[8], 3, false) == Status.Ok, "no unreliable message leaves");
                }
                Thread.Sleep(4);
            }
        }
    }

    // Drives to and fro, so that it hits what stands there.
    static void Mirror(byte[] token, byte[] scene)
    {
        const ulong second = 1000000000;
        using (var client = new Client())
        using (var samples = new Samples())
        {
            Check(client.SetMode(ModeKind.Mirror) == Status.Ok, "no mode mirror");
            Check(client.GiveScene(scene) == Status.Ok, "no scene is taken");
            Check(client.SetPrediction(true, 1, 50.0f) == Status.Ok, "no prediction");
            Check(client.SetMirrorEvents(MirrorKind.Hits | MirrorKind.Spawns, 1.0f) == Status.Ok, "no events");
            Check(client.Connect(token, Client.NowNs()) == Status.Ok, "no token");
            ulong start = Client.NowNs(), playing = 0;
            var told = new int[4];
            float[] control = { 1.0f, 0.3f };
            for (ulong now = start; now < start + 30 * second && (playing == 0 || now < playing + 6 * second);
                 now = Client.NowNs())
            {
                control[0] = (now - start) / (2 * second) % 2 == 0 ? 1.0f : -1.0f;
                client.SetControl(control);
                client.Poll(now);
                ClientEvent happened;
                while (client.NextEvent(out happened))
                {
                    Check(happened.Kind != EventKind.Disconnected, "disconnected: " + happened.Text);
                    Check(happened.Kind != EventKind.Scene, "the scene was sent, too");
                    if (happened.Kind == EventKind.World) ++told[(int)happened.Certainty];
                }
                if (client.State == ClientState.Playing && playing == 0) playing = now;
                if (playing != 0) Check(client.Sample(now, samples) == Status.Ok, "no states");
                Thread.Sleep(4);
            }
            orrery_mirror_stats stats;
            Check(client.MirrorStats(out stats), "no numbers");
            Check(samples.IndexOf(client.OwnBody) >= 0, "the own body is not among the samples");
            Check(client.Disconnect(Client.NowNs()) == Status.Ok, "no disconnect");
            Console.WriteLine("confirmed={0} predicted={1} compared={2} divergences={3} as_predicted={4} dropped={5} " +
                                  "told_predicted={6} told_confirmed={7} told_cancelled={8}",
                              stats.confirmed_tick, stats.predicted_tick, stats.hashes_compared, stats.divergences,
                              stats.ticks_as_predicted, stats.events_dropped, told[(int)CertaintyKind.Predicted],
                              told[(int)CertaintyKind.Confirmed], told[(int)CertaintyKind.Cancelled]);
        }
    }

    static void Frames(byte[] token)
    {
        const int warmUp = 200, measured = 500;
        using (var client = new Client())
        using (var samples = new Samples(1))
        {
            Check(client.Connect(token, Client.NowNs()) == Status.Ok, "no token");
            float[] control = { 0.5f, 0.5f };
            ulong giveUp = Client.NowNs() + 30000000000ul;
            ClientEvent happened;
            long before = 0;
            for (int frame = 0; frame < warmUp + measured;)
            {
                ulong now = Client.NowNs();
                Check(now < giveUp, "too few frames");
                if (frame == warmUp) before = GC.GetAllocatedBytesForCurrentThread();
                client.SetControl(control);
                client.Poll(now);
                while (client.NextEvent(out happened)) Check(happened.Kind != EventKind.Disconnected, "disconnected");
                if (client.State == ClientState.Playing && client.Sample(now, samples) == Status.Ok) ++frame;
                Thread.Sleep(4);
            }
            long allocated = GC.GetAllocatedBytesForCurrentThread() - before;
            int own = samples.IndexOf(client.OwnBody);
            Check(own >= 0 && samples.Ids[own] == client.OwnBody, "the own body is not among the samples");
            float x = samples.Orientations[4 * own], y = samples.Orientations[4 * own + 1];
            float z = samples.Orientations[4 * own + 2], w = samples.Orientations[4 * own + 3];
            Check(Math.Abs(x * x + y * y + z * z + w * w - 1.0f) < 1e-3f, "a quaternion that is none");
            for (int i = 0; i < samples.Count; ++i) Check(samples.IndexOf(samples.Ids[i]) == i, "an id is not found");
            Check(samples.IndexOf(ulong.MaxValue) == -1, "a body that does not exist is found");
            Session session = client.Session();
            BodyInfo body = client.Body(client.OwnBody);
            orrery_shape shape;
            Check(session.SceneName == "yard" && session.Slot != Native.ORRERY_NO_SLOT && session.TickRateHz == 60.0f,
                  "the session");
            Check(body.Type == BodyKind.Dynamic && body.Slot == session.Slot && body.TemplateName.Length > 0,
                  "the own body");
            Check(client.Shape(body.Shape, out shape) && (ShapeKind)shape.type == ShapeKind.Box,
                  "the shape of the own body");
            Check(shape.half_extents_0 > 0.0f && shape.half_extents_2 > 0.0f, "the size of the own body");
            Check(client.Disconnect(Client.NowNs()) == Status.Ok, "no disconnect");
            Console.WriteLine("frames={0} bodies={1} allocated={2}", measured, samples.Count, allocated);
        }
    }
}
