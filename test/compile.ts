import { azure } from "../compiler/azure/wing.ts"
import { type Compiled, compile as compileWith } from "../compiler/compile.ts"
import type { Files } from "../compiler/core/files.ts"

/** `compile` for projects that may have policy documents or templates. */
export function compile(files: Files, entry: string): Compiled {
  return compileWith(files, entry, azure)
}
