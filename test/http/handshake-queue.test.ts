import { Socket } from "node:net"
import { expect, test } from "vitest"
import { HandshakeQueue } from "../../runtime/http/server/handshake-queue.ts"
import { until } from "../support/until.ts"

/** Occupies the event loop as a handshake does. */
function work(ms: number): void {
  const endMs = performance.now() + ms
  while (performance.now() < endMs);
}

test("addresses take turns, and connections that were closed meanwhile are passed over", async () => {
  const queue = new HandshakeQueue()
  const begun: string[] = []
  const add = (address: string, name: string, socket = new Socket()) => {
    queue.add(address, socket, () => begun.push(name))
    return socket
  }
  for (const name of ["a1", "a2", "a3", "a4"]) add("a", name)
  add("b", "b1")
  add("b", "b2").destroy()
  add("c", "c1")
  expect(begun).toEqual([])
  await until(() => begun.length === 6)
  expect(begun).toEqual(["a1", "b1", "c1", "a2", "a3", "a4"])
})

test("other work of the process runs between handshakes", async () => {
  const queue = new HandshakeQueue()
  let begun = 0
  let turns = 0
  const others = setInterval(() => {
    turns += 1
  }, 0)
  for (let count = 0; count < 40; count += 1)
    queue.add("a", new Socket(), () => {
      work(2)
      begun += 1
    })
  await until(() => begun === 40)
  clearInterval(others)
  // 40 handshakes of 2 ms, at most three in a turn.
  expect(turns).toBeGreaterThanOrEqual(10)
})
