import { setFlagsFromString } from "node:v8"

/** How much garbage may lie beside what is in use before it is collected, in per cent of that. */
const garbagePercent = 60

/**
 * Keeps the memory of a language server small. Without it, V8 lets the heap grow to several times of what is in use before it collects
 * garbage, and never returns it while nobody types: 370 MB with 1,000 routes, of which 60 MB are in use. It costs about one more collection in
 * 20 keystrokes.
 */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${garbagePercent}`)
}
