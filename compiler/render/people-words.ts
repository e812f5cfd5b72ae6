import type { AccessChange } from "../../runtime/check/access-change.ts"

export const verbs: Readonly<Record<AccessChange, string>> = {
  gains: "gains",
  loses: "loses",
  "may-gain": "may gain",
  "may-lose": "may lose",
  undecided: "undecided",
}
export const signs: Readonly<Record<AccessChange, string>> = {
  gains: "+",
  loses: "-",
  "may-gain": "+?",
  "may-lose": "-?",
  undecided: "?",
}
export const nouns: Readonly<Record<AccessChange, readonly [one: string, several: string]>> = {
  gains: ["gain", "gains"],
  loses: ["loss", "losses"],
  "may-gain": ["possible gain", "possible gains"],
  "may-lose": ["possible loss", "possible losses"],
  undecided: ["undecided access", "undecided accesses"],
}
export const changes = Object.keys(verbs) as AccessChange[]

export function number(count: number): string {
  return count.toLocaleString("en")
}

export function counted(count: number, one: string, several = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : several}`
}
