// Stands in for the part of UnityEngine that client_sdk/ENGINES.md uses, so that its script compiles, and checks the
// script's conversions. The quaternion turns vectors by Unity's formula.
using System;

namespace UnityEngine
{
    public struct Vector3
    {
        public float x, y, z;
        public Vector3(float x, float y, float z) { this.x = x; this.y = y; this.z = z; }
        public static Vector3 Cross(Vector3 a, Vector3 b)
        {
            return new Vector3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
        }
        public static Vector3 operator +(Vector3 a, Vector3 b) { return new Vector3(a.x + b.x, a.y + b.y, a.z + b.z); }
        public static Vector3 operator *(float s, Vector3 a) { return new Vector3(s * a.x, s * a.y, s * a.z); }
    }

    public struct Quaternion
    {
        public float x, y, z, w;
        public Quaternion(float x, float y, float z, float w) { this.x = x; this.y = y; this.z = z; this.w = w; }
        public static Vector3 operator *(Quaternion q, Vector3 v)
        {
            var u = new Vector3(q.x, q.y, q.z);
            Vector3 t = 2.0f * Vector3.Cross(u, v);
            return v + q.w * t + Vector3.Cross(u, t);
        }
    }

    public class Object
    {
        public string name { get; set; }
        public static void Destroy(Object destroyed) { }
    }

    public class Component : Object
    {
        public Transform transform { get; private set; }
    }

    public class Transform : Component
    {
        public Vector3 localScale { get; set; }
        public void SetParent(Transform parent, bool worldPositionStays) { }
        public void SetPositionAndRotation(Vector3 position, Quaternion rotation) { }
    }

    public class Collider : Component { }
    public class MonoBehaviour : Component { }
    public enum PrimitiveType { Sphere, Capsule, Cylinder, Cube }

    public class GameObject : Object
    {
        public Transform transform { get; private set; }
        public T GetComponent<T>() where T : Component { return null; }
        public static GameObject CreatePrimitive(PrimitiveType type) { return new GameObject(); }
    }

    public static class Application { public static bool runInBackground { get; set; } }
    public static class Debug { public static void Log(object message) { } }
    public static class Input { public static float GetAxis(string axis) { return 0.0f; } }
}

static class Conversions
{
    static int Main()
    {
        // Turning in Orrery's frame and converting is converting and turning in Unity's.
        var random = new Random(7);
        for (int i = 0; i < 1000; ++i)
        {
            var q = new float[4];
            float length = 0.0f;
            for (int k = 0; k < 4; ++k) q[k] = (float)random.NextDouble() * 2.0f - 1.0f;
            foreach (float number in q) length += number * number;
            for (int k = 0; k < 4; ++k) q[k] /= (float)Math.Sqrt(length);
            float[] v = { (float)random.NextDouble(), (float)random.NextDouble(), (float)random.NextDouble() };
            var rotation = new UnityEngine.Quaternion(q[0], q[1], q[2], q[3]);
            UnityEngine.Vector3 turned = rotation * new UnityEngine.Vector3(v[0], v[1], v[2]);
            UnityEngine.Vector3 expected = OrreryRoom.Position(new[] { turned.x, turned.y, turned.z }, 0);
            UnityEngine.Vector3 found = OrreryRoom.Rotation(q, 0) * OrreryRoom.Position(v, 0);
            UnityEngine.Vector3 off = found + -1.0f * expected;
            float error = Math.Abs(off.x) + Math.Abs(off.y) + Math.Abs(off.z);
            if (error > 1e-5f)
            {
                Console.WriteLine("quaternion {0}: off by {1}", i, error);
                return 1;
            }
        }
        // Forward, right and up become Unity's.
        UnityEngine.Vector3 forward = OrreryRoom.Position(new[] { 0.0f, 0.0f, -1.0f }, 0);
        UnityEngine.Vector3 right = OrreryRoom.Position(new[] { 1.0f, 0.0f, 0.0f }, 0);
        UnityEngine.Vector3 up = OrreryRoom.Position(new[] { 0.0f, 1.0f, 0.0f }, 0);
        if (forward.z != 1.0f || right.x != 1.0f || up.y != 1.0f) return 1;
        Console.WriteLine("conversions hold");
        return 0;
    }
}
