import { expect } from "vitest"
import { compileCsharp } from "../../../compiler/azure/csharp/compile-csharp.ts"
import { compileProgram } from "../../../runtime/azure/csharp/compile.ts"
import type { PolicyContext } from "../../../runtime/azure/csharp/ports.ts"
import { toText } from "../../../runtime/azure/csharp/values.ts"
import { CsharpError } from "../../../runtime/expression/expression-error.ts"
import { csharpProgram } from "../../../runtime/plan/csharp.ts"
import { fakeContext } from "./fake-context.ts"

/** Compiles `@(…)` or `@{…}`, sends the program through JSON and its schema as a plan does, and runs it. */
export function run(source: string, context: PolicyContext = fakeContext()): unknown {
  const compiled = compile(source)
  if ("findings" in compiled) throw new Error(compiled.findings.map(({ message }) => message).join("\n"))
  const program = csharpProgram.parse(JSON.parse(JSON.stringify(compiled.program)))
  return compileProgram(program)(context)
}

export function compile(source: string): ReturnType<typeof compileCsharp> {
  expect(source).toMatch(/^@[({]/)
  const kind = source[1] === "{" ? "block" : "expression"
  return compileCsharp({ text: source.slice(2, -1), at: (offset) => offset + 2 }, kind, {
    section: "inbound",
    namedValue: (name) =>
      name === "port"
        ? { constant: "8080" }
        : name === "host"
          ? { value: "host" }
          : name === "key"
            ? { secret: "key" }
            : undefined,
  })
}

/** What a case expects: the value's text, or `! Exception: message`, or `? finding`. */
export function outcome(source: string): string {
  const compiled = compile(source)
  if ("findings" in compiled)
    return compiled.findings.map(({ message, start, end }) => `? ${start}-${end} ${message}`).join("\n")
  try {
    return toText(run(source))
  } catch (error) {
    if (error instanceof CsharpError) return `! ${error.reason}`
    throw error
  }
}
