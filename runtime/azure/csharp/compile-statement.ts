import type { CsNode, CsStatement } from "../../plan/csharp.ts"
import { asException, CsException, nullReference } from "./errors.ts"
import { charge } from "./run.ts"
import { parseType } from "./type.ts"
import { isInstance } from "./type-test.ts"
import { elementsOf } from "./values.ts"

/** A compiled expression: from the frame to a value. */
export type CsClosure = (frame: unknown[]) => unknown

/** Compiles an expression. It is a parameter, because expressions can contain functions with statements. */
type Compile = (node: CsNode) => CsClosure

/** How a statement ended: normally, with `break`, with `continue`, or with `return`. The returned value is in slot 0 of the frame. */
type End = 0 | 1 | 2 | 3
const [next, broken, continued, left] = [0, 1, 2, 3] as const

type RunStatement = (frame: unknown[]) => End

/** A block of statements as a function that returns its value. */
export function returned(run: RunStatement): CsClosure {
  return (frame) => {
    frame[0] = null
    return run(frame) === left ? frame[0] : null
  }
}

const compilers: {
  [S in CsStatement["s"]]: (statement: Extract<CsStatement, { s: S }>, compileNode: Compile) => RunStatement
} = {
  run: ({ on }, compileNode) => {
    const run = compileNode(on)
    return (frame) => {
      run(frame)
      return next
    }
  },
  block: ({ body }, compileNode) => sequence(body.map((one) => compileStatement(one, compileNode))),
  if: ({ test, yes, no }, compileNode) => {
    const [ask, onYes, onNo] = [
      compileNode(test),
      compileStatement(yes, compileNode),
      no && compileStatement(no, compileNode),
    ]
    return (frame) => (ask(frame) === true ? onYes(frame) : onNo === undefined ? next : onNo(frame))
  },
  while: compileWhile,
  each: compileEach,
  switch: compileSwitch,
  return: ({ on }, compileNode) => {
    if (on === undefined) return () => left
    const run = compileNode(on)
    return (frame) => {
      const value = run(frame)
      frame[0] = value
      return left
    }
  },
  throw: ({ on }, compileNode) => {
    const run = on === undefined ? (): unknown => rethrown() : compileNode(on)
    return (frame) => {
      const thrown = run(frame)
      throw thrown instanceof CsException ? thrown : nullReference()
    }
  },
  break: () => () => broken,
  continue: () => () => continued,
  try: compileTry,
}

export function compileStatement(statement: CsStatement, compileNode: Compile): RunStatement {
  return (compilers[statement.s] as (statement: CsStatement, compile: Compile) => RunStatement)(
    statement,
    compileNode,
  )
}

/** Runs statements until one ends the sequence (`break`, `continue`, `return`). */
function sequence(runs: readonly RunStatement[]): RunStatement {
  return (frame) => {
    for (const run of runs) {
      const end = run(frame)
      if (end !== next) return end
    }
    return next
  }
}

/**
 * `while`, `do` and `for` are one statement: `first` skips the first test, `step` has the iterators of a `for`. Each round is charged,
 * because a condition may always hold.
 */
function compileWhile(
  { test, body, step, first }: Extract<CsStatement, { s: "while" }>,
  compileNode: Compile,
): RunStatement {
  const [ask, run, steps] = [compileNode(test), compileStatement(body, compileNode), step.map(compileNode)]
  return (frame) => {
    for (let untested = first; untested || ask(frame) === true; untested = false) {
      charge(1)
      const end = run(frame)
      if (end === broken) return next
      if (end === left) return left
      for (const advance of steps) advance(frame)
    }
    return next
  }
}

/** `foreach`. A list that changes in the loop throws, as in .NET; only a changed length is noticed, not a replaced element. */
function compileEach(
  { slot, over, body }: Extract<CsStatement, { s: "each" }>,
  compileNode: Compile,
): RunStatement {
  const [list, run] = [compileNode(over), compileStatement(body, compileNode)]
  return (frame) => {
    const value = list(frame)
    if (value === null || value === undefined) throw nullReference()
    const elements = elementsOf(value)
    const count = elements.length
    for (const element of elements) {
      charge(1)
      frame[slot] = element
      const end = run(frame)
      if (end === broken) return next
      if (end === left) return left
      if (elements.length !== count)
        throw new CsException(
          "InvalidOperationException",
          "Collection was modified; enumeration operation may not execute.",
        )
    }
    return next
  }
}

/** The first case that matches runs; `default` runs when none does, wherever it is written. */
function compileSwitch({ cases }: Extract<CsStatement, { s: "switch" }>, compileNode: Compile): RunStatement {
  const compiled = cases.map(({ test, body }) => ({
    ask: test === undefined ? undefined : compileNode(test),
    run: sequence(body.map((one) => compileStatement(one, compileNode))),
  }))
  const fallback = compiled.find(({ ask }) => ask === undefined)
  return (frame) => {
    const chosen = compiled.find(({ ask }) => ask !== undefined && ask(frame) === true) ?? fallback
    const end = chosen === undefined ? next : chosen.run(frame)
    return end === broken ? next : end
  }
}

// The exceptions in handling, innermost last, for `throw;`.
const handled: CsException[] = []

function rethrown(): CsException {
  return handled[handled.length - 1] ?? nullReference()
}

/** `try` with `catch` clauses in textual order and `finally`. */
function compileTry(
  { body, catches, finally: last }: Extract<CsStatement, { s: "try" }>,
  compileNode: Compile,
): RunStatement {
  const run = compileStatement(body, compileNode)
  const handlers = catches.map((clause) => ({
    type: parseType(clause.type),
    slot: clause.slot,
    ask: clause.when === undefined ? undefined : compileNode(clause.when),
    run: compileStatement(clause.body, compileNode),
  }))
  const close = last === undefined ? undefined : compileStatement(last, compileNode)
  const guarded: RunStatement = (frame) => {
    try {
      return run(frame)
    } catch (error) {
      // Limits are not C# exceptions: no `catch` of the program handles them.
      const thrown = asException(error)
      if (thrown === undefined) throw error
      const handler = handlers.find(({ type, slot, ask }) => {
        if (!isInstance(thrown, type)) return false
        if (slot !== undefined) frame[slot] = thrown
        return ask === undefined || ask(frame) === true
      })
      if (handler === undefined) throw error
      charge(20)
      handled.push(thrown)
      try {
        return handler.run(frame)
      } finally {
        handled.pop()
      }
    }
  }
  if (close === undefined) return guarded
  return (frame) => closed(frame, guarded, close)
}

/** Runs `finally`. Slot 0 of the frame is the value of `return`: `finally` must not overwrite it. */
function closed(frame: unknown[], run: RunStatement, close: RunStatement): End {
  let end: End
  try {
    end = run(frame)
  } catch (thrown) {
    if (asException(thrown) !== undefined) close(frame)
    throw thrown
  }
  const value = frame[0]
  close(frame)
  frame[0] = value
  return end
}
