import { type Compiled, compileAndTest } from "../../compiler/compile.ts"
import { MemoryFiles } from "../../compiler/core/files.ts"
import { LanguageService } from "../../compiler/service/language-service.ts"
import { Engine } from "../../runtime/check/engine.ts"
import { explanationText } from "../../runtime/check/explain-text.ts"
import { listObjects } from "../../runtime/check/list-objects.ts"
import { listUsers } from "../../runtime/check/list-users.ts"
import { loadModel } from "../../runtime/check/loaded-model.ts"
import { MemorySource } from "../../runtime/check/memory-source.ts"
import type { TupleKey } from "../../runtime/check/ports.ts"
import { lowerModel } from "../../runtime/model/lower.ts"
import { canonicalJson } from "../../runtime/plan/canonical.ts"

/** A project as texts, and what to ask its model. */
export interface AskedProject {
  readonly texts: readonly (readonly [path: string, text: string])[]
  readonly store: string
  readonly tuples: readonly TupleKey[]
  readonly checks: readonly Pick<TupleKey, "user" | "relation" | "object">[]
}

/**
 * What the compiler, the engine and the language service say about a project, as JSON. Tests bundle this file for a browser and compare its answers
 * there with those in Node.js.
 */
export async function projectAnswers(project: AskedProject): Promise<string> {
  const files = new MemoryFiles(project.texts)
  const compiled = await compileAndTest(files, "gateway.conf")
  const broken = await compileAndTest(
    new MemoryFiles(project.texts.map(([path, text]) => [path, `${text}\n}{ `] as const)),
    "gateway.conf",
  )
  const service = new LanguageService(files, "gateway.conf")
  return canonicalJson({
    plan: compiled.plan,
    findings: findingsOf(compiled),
    broken: findingsOf(broken),
    completion: await service.completion("gateway.conf", 0),
    answers: await modelAnswers(compiled, project),
  })
}

function findingsOf({ diagnostics }: Compiled): unknown {
  return diagnostics.map(({ code, detail, span }) => [code, detail, span?.file.path, span?.start])
}

async function modelAnswers(compiled: Compiled, { store, tuples, checks }: AskedProject): Promise<unknown> {
  const source = compiled.models.get(store)
  if (source === undefined) throw new Error(`the project has no model \`${store}\``)
  const model = loadModel(lowerModel(source.model))
  const memory = new MemorySource()
  memory.write(...tuples)
  const engine = new Engine(memory)
  const answers: unknown[] = []
  for (const { user, relation, object } of checks) {
    const answer = await engine.check(store, model, { user, relation, object, explain: true })
    const [type = ""] = object.split(":")
    const filter = { type: user.split(":")[0] ?? "" }
    answers.push([
      answer.allowed,
      answer.explanation === undefined ? undefined : explanationText(answer.explanation),
      await engine.ask(store, listObjects(model, { user, relation, type }, engine.bounds)),
      await engine.ask(store, listUsers(model, { object, relation, filter }, engine.bounds)),
    ])
  }
  engine.close()
  return answers
}
