// The C# client in one page: joins a room by a token, drives straight ahead for some seconds, prints the distance.
//
//   mono Drive.exe TOKEN_FILE [SECONDS]
//
// Exit codes: 0 drove more than 5 m; 1 did not; 2 no usable token; 64 usage.
using System;
using System.Globalization;
using System.IO;
using System.Threading;
using Orrery;

static class Drive
{
    const double FarEnoughM = 5.0;
    const double JoinTimeoutS = 20.0;

    static int Main(string[] arguments)
    {
        double seconds = 10.0;
        if (arguments.Length < 1 || arguments.Length > 2 || arguments.Length == 2 && !IsTime(arguments[1], out seconds))
        {
            Console.Error.WriteLine("usage: mono Drive.exe TOKEN_FILE [SECONDS]   (orrery serve writes TOKEN_FILE)");
            return 64;
        }
        var settings = new ClientSettings { Log = (level, text) => Console.Error.WriteLine("{0}: {1}", level, text) };
        using (var client = new Client(settings))
        using (var samples = new Samples())
        {
            Status status;
            try
            {
                status = client.Connect(File.ReadAllBytes(arguments[0]), Client.NowNs());
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                Console.Error.WriteLine(error.Message);
                return 2;
            }
            if (status != Status.Ok)
            {
                Console.Error.WriteLine("{0}: {1}", arguments[0], Client.NameOf(status));
                return 2;
            }
            int result = Play(client, samples, seconds);
            client.Disconnect(Client.NowNs());
            return result;
        }
    }

    static int Play(Client client, Samples samples, double seconds)
    {
        float[] forward = { 1.0f, 0.0f };  // throttle, steering
        var start = new Vec3();
        var end = new Vec3();
        int frames = 0;
        ulong now = Client.NowNs(), finish = 0, giveUp = now + Ns(JoinTimeoutS + seconds);
        while (now < giveUp && (finish == 0 || now < finish))
        {
            client.SetControl(forward);
            client.Poll(now);
            ClientEvent happened;
            while (client.NextEvent(out happened))
            {
                if (happened.Kind != EventKind.Disconnected) continue;
                Console.Error.WriteLine("disconnected: {0} ({1})", happened.Text, happened.EndReason);
                return 1;
            }
            if (client.State == ClientState.Playing && client.Sample(now, samples) == Status.Ok)
            {
                int own = samples.IndexOf(client.OwnBody);
                if (own >= 0)
                {
                    end = samples.Position(own);
                    if (finish == 0)
                    {
                        start = end;
                        finish = now + Ns(seconds);
                    }
                    ++frames;
                }
            }
            Thread.Sleep(8);
            now = Client.NowNs();
        }
        if (finish == 0)
        {
            Console.Error.WriteLine("no body of this player: no answer, or no free slot");
            return 1;
        }
        double x = end.X - start.X, y = end.Y - start.Y, z = end.Z - start.Z;
        double distance = Math.Sqrt(x * x + y * y + z * z);
        orrery_client_stats stats = client.Stats();
        Console.WriteLine(string.Format(CultureInfo.InvariantCulture,
            "start {0} m, end {1} m, distance {2:0.00} m, rtt {3:0.000} ms, {4} frames, {5} bodies, {6} snapshots",
            start, end, distance, stats.rtt_s * 1000.0, frames, samples.Count, stats.snapshots_received));
        return distance > FarEnoughM ? 0 : 1;
    }

    static bool IsTime(string text, out double seconds)
    {
        return double.TryParse(text, NumberStyles.Float, CultureInfo.InvariantCulture, out seconds) && seconds > 0.0 &&
               seconds < 1e6;
    }

    static ulong Ns(double seconds)
    {
        return (ulong)(seconds * 1e9);
    }
}
