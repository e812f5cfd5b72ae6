import { CsharpError } from "../../expression/expression-error.ts"
import type { CsharpProgram, CsNode, CsStatement } from "../../plan/csharp.ts"
import { compileNode } from "./compile-node.ts"
import { compileStatement, returned } from "./compile-statement.ts"
import { asException, CsLimitError } from "./errors.ts"
import { loadLibrary } from "./library.ts"
import type { PolicyContext } from "./ports.ts"
import { withRun } from "./run.ts"
import { Boxed } from "./values.ts"

/**
 * Compiles a program to a function. The bodies in its `needs` must be loaded before the call. It returns plain data, or library objects that other
 * programs can read from `context.Variables`; `toText` converts both to text. One run takes at most 300,000 steps.
 * @throws Error if the program uses a name that the library does not have; the function throws CsharpError
 */
export function compileProgram(program: CsharpProgram): (host: PolicyContext) => unknown {
  loadLibrary()
  const { slots } = program
  const body = program.body as CsNode | CsStatement
  const run = "k" in body ? compileNode(body) : returned(compileStatement(body, compileNode))
  const empty: unknown[] = new Array(slots).fill(null)
  return (host) => {
    try {
      return outward(withRun(host, run, slots === 1 ? [null] : empty.slice()))
    } catch (error) {
      throw failure(error)
    }
  }
}

function outward(value: unknown): unknown {
  if (value instanceof Boxed) return value.value
  return value === undefined ? null : value
}

function failure(error: unknown): unknown {
  const exception = asException(error)
  if (exception !== undefined) return new CsharpError(exception.type, exception.message, exception.at)
  if (error instanceof CsLimitError) return new CsharpError("limit", error.message, undefined)
  if (error instanceof RangeError)
    return new CsharpError("limit", "the expression is nested too deeply", undefined)
  return error
}
