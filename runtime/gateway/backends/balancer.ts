import { createHash } from "node:crypto"
import type { Target } from "./target.ts"

/** Chooses one of the available targets; `key`: the key of `balance hash`. Needs at least one target. */
export type Balance = (usable: readonly Target[], key: string | undefined) => Target

/** Rotates by weight, evenly spread (smooth weighted round-robin: 3:1 gives a a b a, not a a a b). */
export function roundRobin(): Balance {
  // Targets that were found may disappear.
  const current = new WeakMap<Target, number>()
  return (usable) => {
    let sum = 0
    let best = usable[0] as Target
    let most = Number.NEGATIVE_INFINITY
    for (const target of usable) {
      const value = (current.get(target) ?? 0) + target.weight
      current.set(target, value)
      sum += target.weight
      if (value > most) {
        most = value
        best = target
      }
    }
    current.set(best, most - sum)
    return best
  }
}

/** The target with the fewest outstanding requests for its weight. Ties are broken at random, otherwise the first target would get every single request. */
export function leastOutstanding(random: () => number = Math.random): Balance {
  return (usable) => {
    let best = usable[0] as Target
    let equals = 1
    for (const target of usable.slice(1)) {
      const difference = target.outstanding * best.weight - best.outstanding * target.weight
      if (difference < 0) {
        best = target
        equals = 1
      } else if (difference === 0) {
        equals += 1
        if (random() * equals < 1) best = target
      }
    }
    return best
  }
}

const keysMax = 10_000

/** Equal keys use the same target while it is available (weighted rendezvous hashing): when a target is removed, only its own keys move. */
export function consistentHash(): Balance {
  const known = new Map<string, Map<Target, number>>()
  return (usable, key = "") => {
    let scores = known.get(key)
    if (scores === undefined) {
      // Clients choose the keys, so the cache must be limited.
      if (known.size >= keysMax) known.clear()
      scores = new Map()
      known.set(key, scores)
    }
    let best = usable[0] as Target
    let most = Number.NEGATIVE_INFINITY
    for (const target of usable) {
      let value = scores.get(target)
      if (value === undefined) {
        value = score(target, key)
        scores.set(target, value)
      }
      if (value > most) {
        most = value
        best = target
      }
    }
    return best
  }
}

function score({ place, weight }: Target, key: string): number {
  const digest = createHash("sha256").update(`${place.origin}${place.basePath}\n${key}`).digest()
  const fraction = (digest.readUInt32BE(0) + 1) / (2 ** 32 + 1)
  return -weight / Math.log(fraction)
}
