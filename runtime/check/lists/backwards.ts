import { IntList } from "../evaluate/int-list.ts"
import type { AnyPart, ProgramPart } from "../evaluate/program.ts"
import type { EngineQuestion } from "../evaluate/question.ts"
import { type ClosureTruths, growAll } from "./closure-truths.ts"

/**
 * The objects on which a relation may hold, found from the subject backwards: all on which it does, and where more than tuples and unions decide, others.
 * An intersection is searched from all its operands in turns until one has ended: any of them holds every object that matters. Undefined when that hangs on what is not in memory.
 */
export function* objectsBackwards(
  truths: ClosureTruths,
  { program, subject }: EngineQuestion,
  target: number,
): Generator<void, IntList | undefined> {
  const part = program.parts[target]
  const objects = part === undefined ? new IntList() : yield* race(sourcesOf(part), truths)
  if (objects !== undefined && target === program.own && !(yield* has(objects, subject)))
    objects.push(subject)
  return objects
}

function* has(list: IntList, id: number): Generator<void, boolean> {
  for (let at = 0; at < list.length; at++) {
    if (list.get(at) === id) return true
    if ((at & 0xfff) === 0xfff) yield
  }
  return false
}

/** Unions of which each alone holds all objects of a part. */
function sourcesOf(part: ProgramPart): AnyPart[] {
  if (part.op === "any") return [part]
  return part.op === "but" ? sourcesOf(part.base) : part.children.flatMap(sourcesOf)
}

function* race(sources: readonly AnyPart[], truths: ClosureTruths): Generator<void, IntList | undefined> {
  const runners = sources.map(({ number }) => {
    const closure = truths.closure(number)
    const found = new IntList()
    return { number, closure, found, growing: growAll(closure, number, found), running: true }
  })
  for (;;) {
    let running = false
    for (const runner of runners) {
      const { closure, found, growing } = runner
      runner.running = growing.next().done !== true
      if (runner.running) running = true
      else if (closure.complete) {
        for (const other of runners) if (other.running) truths.drop(other.number)
        return found
      }
    }
    if (!running) return undefined
    yield
  }
}
