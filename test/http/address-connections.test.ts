import { expect, test } from "vitest"
import { AddressConnections } from "../../runtime/http/server/address-connections.ts"

function limited(openMax: number | undefined, newMax: number | undefined) {
  const clock = { nowMs: 0 }
  const connections = new AddressConnections(() => clock.nowMs)
  connections.limits = {
    openMax,
    newMax,
    countedAs: (address) => (address === "proxy" ? undefined : address),
  }
  return { connections, clock }
}

test("an address may have so many open connections; a closed one makes room", () => {
  const { connections } = limited(2, undefined)
  const [first, second] = [connections.admit("a"), connections.admit("a")]
  expect(connections.admit("a")).toBeUndefined()
  expect(connections.admit("b")).toBeDefined()
  for (let count = 0; count < 10; count += 1) expect(connections.admit("proxy")).toBeDefined()
  first?.()
  const third = connections.admit("a")
  expect(third).toBeDefined()
  expect(connections.admit("a")).toBeUndefined()
  second?.()
  third?.()
  expect(connections.size).toBe(1)
})

test("an address may open so many connections in a second, which refill evenly", () => {
  const { connections, clock } = limited(undefined, 10)
  const open = () => {
    let opened = 0
    for (let count = 0; count < 100; count += 1) {
      const leave = connections.admit("a")
      if (leave !== undefined) opened += 1
      leave?.()
    }
    return opened
  }
  expect(open()).toBe(10)
  clock.nowMs = 500
  expect(open()).toBe(5)
  clock.nowMs = 5_000
  expect(open()).toBe(10)
})

test("the table forgets addresses without connections, and keeps those that have some", () => {
  const { connections, clock } = limited(5, 10)
  const leave = connections.admit("stays")
  for (let count = 0; count < 30_000; count += 1) {
    clock.nowMs += 1
    connections.admit(`address ${count}`)?.()
  }
  expect(connections.size).toBeLessThan(12_000)
  for (let count = 0; count < 4; count += 1) connections.admit("stays")
  expect(connections.admit("stays")).toBeUndefined()
  leave?.()
  expect(connections.admit("stays")).toBeDefined()
})

test("limits of the next plan apply to connections that are open", () => {
  const { connections } = limited(undefined, undefined)
  connections.admit("a")
  connections.limits = { ...connections.limits, openMax: 1 }
  expect(connections.admit("a")).toBeDefined()
  expect(connections.admit("a")).toBeUndefined()
})
