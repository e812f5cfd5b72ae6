import { pbkdf2 } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { promisify } from "node:util"
import { expect, onTestFinished, test, vi } from "vitest"
import { FileWatch } from "../../runtime/gateway/generation/file-watch.ts"

test("a change is told once, however long the look at the files takes", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-watch-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, "key"), "text")
  const onChange = vi.fn()
  const watch = new FileWatch(onChange, 1)
  onTestFinished(() => watch.close())
  // All threads that look at files are busy, so that the interval ends many times before the first look.
  const busy = Array.from({ length: 200 }, () => promisify(pbkdf2)("a", "b", 5_000, 8, "sha256"))
  watch.watch([{ path: join(folder, "key"), mark: "another" }])
  await Promise.all(busy)
  await expect.poll(() => onChange.mock.calls.length).toBe(1)
  await sleep(50)
  expect(onChange).toHaveBeenCalledTimes(1)
})
