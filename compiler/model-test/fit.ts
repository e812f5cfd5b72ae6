import type { LoadedModel } from "../../runtime/check/loaded-model.ts"
import { readSubject, splitObject, validateTuple } from "../../runtime/check/tuple.ts"
import type { Report } from "../core/diagnostic.ts"
import { nearest } from "../core/nearest.ts"
import type { Span } from "../core/source.ts"
import type { PlacedTuple, Question } from "./suite.ts"

/**
 * The tuples a store would take, each once: what the model does not allow and what is given twice with different conditions is
 * reported. A tuple repeated word for word is one tuple.
 */
export function fittingTuples(
  model: LoadedModel,
  tuples: readonly PlacedTuple[],
  report: Report,
): readonly PlacedTuple[] {
  const seen = new Map<string, PlacedTuple>()
  for (const tuple of tuples) {
    const { user, relation, object } = tuple.key
    const error = validateTuple(model, tuple.key)
    if (error !== undefined) {
      const reason = error.message.replace(/^Invalid tuple '.*'\. Reason: /s, "")
      report.add("SP6007", tuple.span, reason + nameMeant(model, user, relation, object))
      continue
    }
    const key = `${object}#${relation}@${user}`
    const earlier = seen.get(key)
    if (earlier === undefined) seen.set(key, tuple)
    else if (JSON.stringify(earlier.key.condition) !== JSON.stringify(tuple.key.condition))
      report.add("SP6008", tuple.span, `\`${key}\` is given with another condition already`, {
        related: [{ span: earlier.span, message: "given here" }],
      })
  }
  return [...seen.values()]
}

/** The questions the model can answer; the others are reported. */
export function fittingQuestions(
  model: LoadedModel,
  questions: readonly Question[],
  report: Report,
): readonly Question[] {
  return questions.filter((question) => {
    const [problem] = problemsOf(model, question)
    if (problem !== undefined) report.add("SP6009", problem.span ?? question.span, problem.detail)
    return problem === undefined
  })
}

interface Problem {
  /** Of the assertion when absent. */
  readonly span: Span | undefined
  readonly detail: string
}

/** What is asked first, what is expected last: the latter means nothing without the former. */
function problemsOf(model: LoadedModel, question: Question): Problem[] {
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
  if (parts === undefined) return `\`${object}\` is no object: an object is \`type:id\``
  if (parts.id === "*") return `\`${object}\` means everything of the type; the question is about one object`
  return typeProblem(model, parts.type)
}

function subjectProblem(model: LoadedModel, user: string): string | undefined {
  const found = readSubject(model, user)
  if (typeof found !== "string") return undefined
  const [object = "", relation] = user.split("#")
  const type = splitObject(object)?.type
  return `\`${user}\`: ${found}${type === undefined ? "" : hint(model, type, relation)}`
}

/** What is expected must at least be possible to be listed. */
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

/** "did you mean" for the first name of a tuple the model does not have. */
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
