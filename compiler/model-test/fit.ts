import type { LoadedModel } from "../../runtime/check/loaded-model.ts"
import { splitObject } from "../../runtime/check/object-name.ts"
import type { TupleKey } from "../../runtime/check/ports.ts"
import { readSubject, validateTuple } from "../../runtime/check/tuple.ts"
import type { Report } from "../core/diagnostic.ts"
import { nearest } from "../core/nearest.ts"
import type { Span } from "../core/source.ts"
import type { PlacedTuple, TestAssertion } from "./suite.ts"

/**
 * The tuples a store would accept, without duplicates. Tuples that the model does not allow, and tuples repeated with different conditions,
 * are reported. An identical repetition counts once. The tuples of a test are added to those of the store (`base`).
 */
export class FittingTuples {
  readonly #model: LoadedModel
  readonly #report: Report
  readonly #base: FittingTuples | undefined
  readonly #own = new Map<string, PlacedTuple>()
  #keys: readonly TupleKey[] | undefined

  constructor(model: LoadedModel, report: Report, base?: FittingTuples) {
    this.#model = model
    this.#report = report
    this.#base = base
  }

  /** All tuples, those of the base first. Returns the base's own list when nothing was added. */
  get keys(): readonly TupleKey[] {
    if (this.#base !== undefined && this.#own.size === 0) return this.#base.keys
    this.#keys ??= [...(this.#base?.keys ?? []), ...[...this.#own.values()].map(({ key }) => key)]
    return this.#keys
  }

  add(tuples: readonly PlacedTuple[]): this {
    for (const tuple of tuples) this.#add(tuple)
    return this
  }

  /** A tuple must fit the model. The same tuple twice is allowed if its condition is the same. */
  #add(tuple: PlacedTuple): void {
    const { user, relation, object, condition } = tuple.key
    const error = validateTuple(this.#model, tuple.key)
    if (error !== undefined) {
      const reason = plainReason(error.message.replace(/^Invalid tuple '.*'\. Reason: /s, ""), tuple.key)
      const meant = nameMeant(this.#model, user, relation, object)
      const part = wrongPart(this.#model, tuple.key)
      this.#report.add("SP6007", (part && tuple.places?.[part]) ?? tuple.span, reason + meant)
      return
    }
    const name = `${object}#${relation}@${user}`
    const earlier = this.#own.get(name) ?? (this.#base === undefined ? undefined : this.#base.#own.get(name))
    if (earlier === undefined) this.#own.set(name, tuple)
    else if (JSON.stringify(earlier.key.condition) !== JSON.stringify(condition))
      this.#report.add("SP6008", tuple.span, `\`${name}\` is already given with another condition`, {
        related: [{ span: earlier.span, message: "given here" }],
      })
  }
}

/** The part of a tuple that the model does not know, or that has no form of its own; undefined if only their combination is wrong. */
function wrongPart(
  model: LoadedModel,
  { user, relation, object }: TupleKey,
): "user" | "relation" | "object" | undefined {
  const type = splitObject(object)?.type
  if (type === undefined || !model.types.has(type)) return "object"
  if (model.relationIndex(type, relation) < 0) return "relation"
  return typeof readSubject(model, user) === "string" ? "user" : undefined
}

/** The engine's reasons are OpenFGA's, word for word. Those about conditions are hard to understand without the names. */
function plainReason(reason: string, { user, relation, object, condition }: TupleKey): string {
  const given = `\`${typeOf(object)}#${relation}\` for \`${user}\``
  if (reason === "condition is missing") return `the model allows ${given} only with a condition`
  if (reason === "invalid condition for type restriction")
    return `the model does not allow ${given} with the condition \`${condition?.name}\``
  if (/^invalid 'object' field format/.test(reason))
    return `\`${object}\` is not an object; write \`type:id\``
  return reason
}

/** The questions the model can answer. The others are reported. */
export function fittingQuestions(
  model: LoadedModel,
  questions: readonly TestAssertion[],
  report: Report,
): readonly TestAssertion[] {
  return questions.filter((question) => {
    const [problem] = problemsOf(model, question)
    if (problem !== undefined) report.add("SP6009", problem.span ?? question.span, problem.detail)
    return problem === undefined
  })
}

interface Problem {
  /** Undefined: the place of the assertion. */
  readonly span: Span | undefined
  readonly detail: string
}

/** Problems of the question come before those of the expected answer, which means nothing without a valid question. */
function problemsOf(model: LoadedModel, question: TestAssertion): Problem[] {
  const { relation, places } = question
  const problem = (detail: string | undefined, span?: Span): Problem[] =>
    detail === undefined ? [] : [{ span, detail }]
  if (question.kind === "check")
    return [
      ...problem(subjectProblem(model, question.user), places.user),
      ...problem(objectProblem(model, question.object), places.object),
      ...problem(relationProblem(model, typeOf(question.object), relation)),
    ]
  if (question.kind === "list_objects")
    return [
      ...problem(subjectProblem(model, question.user), places.user),
      ...problem(typeProblem(model, question.type), places.type),
      ...problem(relationProblem(model, question.type, relation) ?? itemProblem(model, question.expected)),
    ]
  const { type, relation: set } = question.filter
  const filterProblem = set === undefined ? typeProblem(model, type) : relationProblem(model, type, set)
  return [
    ...problem(objectProblem(model, question.object), places.object),
    ...problem(filterProblem, places.filter),
    ...problem(
      relationProblem(model, typeOf(question.object), relation) ?? itemProblem(model, question.expected),
    ),
  ]
}

function typeOf(object: string): string {
  return splitObject(object)?.type ?? ""
}

function objectProblem(model: LoadedModel, object: string): string | undefined {
  const parts = splitObject(object)
  if (parts === undefined) return `\`${object}\` is not an object; write \`type:id\``
  if (parts.id === "*") return `\`${object}\` means every object of the type; name one object`
  return typeProblem(model, parts.type)
}

function subjectProblem(model: LoadedModel, user: string): string | undefined {
  const found = readSubject(model, user)
  if (typeof found !== "string") return undefined
  const [object = "", relation] = user.split("#")
  const type = splitObject(object)?.type
  return `\`${user}\`: ${found}${type === undefined ? "" : hint(model, type, relation)}`
}

/** The first problem of an item that the expected list could never contain. */
function itemProblem(model: LoadedModel, items: readonly string[]): string | undefined {
  for (const item of items) {
    const problem = subjectProblem(model, item)
    if (problem !== undefined) return problem
  }
  return undefined
}

function typeProblem(model: LoadedModel, type: string): string | undefined {
  return model.types.has(type) ? undefined : `type '${type}' not found${hint(model, type)}`
}

function relationProblem(model: LoadedModel, type: string, relation: string): string | undefined {
  const problem = typeProblem(model, type)
  if (problem !== undefined || model.relationIndex(type, relation) >= 0) return problem
  return `relation '${type}#${relation}' not found${hint(model, type, relation)}`
}

/** "did you mean" for the first name of a tuple that the model does not have. */
function nameMeant(model: LoadedModel, user: string, relation: string, object: string): string {
  const [subject = "", set] = user.split("#")
  const type = splitObject(subject)?.type
  const meant = type === undefined ? "" : hint(model, type, set)
  const target = splitObject(object)?.type
  return meant === "" && target !== undefined ? hint(model, target, relation) : meant
}

function hint(model: LoadedModel, type: string, relation?: string): string {
  const relations = model.types.get(type)
  if (relations === undefined) return meantText(nearest(type, model.types.keys()))
  if (relation === undefined || relations.has(relation)) return ""
  return meantText(nearest(relation, relations.keys()))
}

function meantText(name: string | undefined): string {
  return name === undefined ? "" : `; did you mean \`${name}\`?`
}
