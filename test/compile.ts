import { azure } from "../compiler/azure/wing.ts"
import { type Compiled, compile as compileWith } from "../compiler/compile.ts"
import type { Files } from "../compiler/core/files.ts"
import { readStores } from "../compiler/gateway/models.ts"
import { openapi } from "../compiler/openapi/wing.ts"

/** `compile` for projects of any kind. */
export function compile(files: Files, entry: string): Compiled {
  return compileWith(files, entry, { azure, openapi, readStores })
}
