import type { AzureWing } from "../policies/policy.ts"
import { type KeptValue, keep, restore } from "./csharp/kept-value.ts"
import { toText } from "./csharp/values.ts"
import { compileCsharpValue, csharpBytes } from "./csharp-value.ts"
import { compileLiquid } from "./liquid-body.ts"

/** C# and Liquid for plans that have them. It is loaded by `import()`: no other plan needs any of it. */
export const azure: AzureWing = {
  compileValue: compileCsharpValue,
  textOf: toText,
  bytesOf: csharpBytes,
  compileLiquid,
  keep,
  restore: (kept) => restore(kept as KeptValue),
}
