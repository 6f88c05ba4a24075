// Stands in for the part of Unreal Engine that client_sdk/ENGINES.md uses, so that its actor compiles. The quaternion
// turns vectors by FQuat's formula.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#define UCLASS(...)
#define UPROPERTY(...)
#define GENERATED_BODY()
#define TEXT(text) text
#define UTF8_TO_TCHAR(text) (text)
#define UE_LOG(category, verbosity, ...) stand_in_log(__VA_ARGS__)
__attribute__((format(printf, 1, 2))) inline void stand_in_log(const char*, ...) {}

using uint8 = unsigned char;
using int32 = int;
using uint32 = unsigned int;
using uint64 = unsigned long long;

struct FVector {
    double X, Y, Z;
    FVector(double x, double y, double z) : X(x), Y(y), Z(z) {}
};

struct FQuat {
    double X, Y, Z, W;
    FQuat(double x, double y, double z, double w) : X(x), Y(y), Z(z), W(w) {}
    FVector RotateVector(const FVector& v) const {
        const FVector t(2.0 * (Y * v.Z - Z * v.Y), 2.0 * (Z * v.X - X * v.Z), 2.0 * (X * v.Y - Y * v.X));
        return FVector(v.X + W * t.X + Y * t.Z - Z * t.Y, v.Y + W * t.Y + Z * t.X - X * t.Z,
                       v.Z + W * t.Z + X * t.Y - Y * t.X);
    }
};

struct FString {
    const char* text;
    FString(const char* t) : text(t) {}
    const char* operator*() const { return text; }
};

template <typename T>
struct TArray {
    std::vector<T> all;
    void SetNum(int32 count) { all.resize(static_cast<std::size_t>(count)); }
    int32 Num() const { return static_cast<int32>(all.size()); }
    T* GetData() { return all.data(); }
    const T* GetData() const { return all.data(); }
    T& operator[](std::size_t i) { return all[i]; }
};

template <typename K, typename V>
struct TMap {
    std::map<K, V> all;
    V* Find(const K& key) {
        const auto found = all.find(key);
        return found == all.end() ? nullptr : &found->second;
    }
    void Add(const K& key, const V& value) { all.insert_or_assign(key, value); }
    void Remove(const K& key) { all.erase(key); }
};

template <typename T>
struct TWeakObjectPtr {
    T* target = nullptr;
    TWeakObjectPtr() = default;
    TWeakObjectPtr(T* t) : target(t) {}
    T* Get() const { return target; }
};

template <typename T>
struct TSubclassOf {};

namespace EEndPlayReason {
enum Type { Destroyed };
}

struct UWorld {
    template <typename T, typename C>
    T* SpawnActor(const C&) {
        return nullptr;
    }
};

struct AActor {
    struct {
        bool bCanEverTick, bTickEvenWhenPaused;
    } PrimaryActorTick{};
    virtual ~AActor() = default;
    virtual void BeginPlay() {}
    virtual void EndPlay(const EEndPlayReason::Type) {}
    virtual void Tick(float) {}
    UWorld* GetWorld() const { return nullptr; }
    void SetActorLocationAndRotation(const FVector&, const FQuat&) {}
    void SetActorScale3D(const FVector&) {}
    bool Destroy() { return true; }
};
using Super = AActor;

struct FPlatformTime {
    static double Seconds() { return 1.0; }
};

struct FFileHelper {
    static bool LoadFileToArray(TArray<uint8>&, const char*) { return false; }
};
