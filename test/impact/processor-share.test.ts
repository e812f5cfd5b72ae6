import { expect, test } from "vitest"
import { shareOfThread, type ThreadSystem } from "../../runtime/impact/processor-share.ts"

/** A system with these files; `lowered` counts the threads that got the lowest priority. */
function systemWith(files: Readonly<Record<string, string>>, platform: NodeJS.Platform = "linux") {
  const system = {
    platform,
    lowered: 0,
    read: (path: string) => files[path],
    lower: () => void system.lowered++,
  }
  return system
}

test("a thread in idle time has the lowest priority, and then makes no pauses", () => {
  const system = systemWith({ "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.max": "max 100000\n" })
  expect(shareOfThread("idle", system)).toBe(1)
  expect(system.lowered).toBe(1)
})

test("a share that is given is kept, with the priority of the process", () => {
  const system = systemWith({})
  expect(shareOfThread(0.3, system)).toBe(0.3)
  expect(system.lowered).toBe(0)
})

test("where only whole processes have a priority, it is not changed", () => {
  const system = systemWith({}, "darwin")
  expect(shareOfThread("idle", system)).toBe(0.5)
  expect(system.lowered).toBe(0)
})

test("a system that refuses the priority gives half of a core", () => {
  const system: ThreadSystem = {
    ...systemWith({}),
    lower: () => {
      throw new Error("EPERM")
    },
  }
  expect(shareOfThread("idle", system)).toBe(0.5)
})

test.each([
  ["of a container", 0.25, { "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.max": "100000 100000\n" }],
  ["of many cores", 0.5, { "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.max": "400000 100000\n" }],
  [
    "of a group above",
    0.125,
    {
      "/proc/self/cgroup": "0::/gateways.slice/one\n",
      "/sys/fs/cgroup/gateways.slice/one/cpu.max": "max 100000\n",
      "/sys/fs/cgroup/gateways.slice/cpu.max": "50000 100000\n",
    },
  ],
  [
    "of the first version",
    0.375,
    {
      "/proc/self/cgroup": "4:cpu,cpuacct:/docker/a:b\n1:name=systemd:/\n",
      "/sys/fs/cgroup/cpu,cpuacct/docker/a:b/cpu.cfs_quota_us": "-1\n",
      "/sys/fs/cgroup/cpu,cpuacct/docker/a:b/cpu.cfs_period_us": "100000\n",
      "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "150000\n",
      "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
    },
  ],
])("of a quota %s, which all threads share, a thread uses %f of a core", (_, share, files) => {
  const system = systemWith(files)
  expect(shareOfThread("idle", system)).toBe(share)
  expect(system.lowered).toBe(0)
})
