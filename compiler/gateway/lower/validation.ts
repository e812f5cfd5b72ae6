import type { CelType } from "../../../runtime/expression/types.ts"
import type { ContentRule } from "../../../runtime/plan/content-rules.ts"
import type { ViolationAction } from "../../../runtime/plan/step-values.ts"
import type { StepOf } from "../../../runtime/plan/steps.ts"
import type { Report } from "../../core/diagnostic.ts"
import type { Content, OperationParameter } from "../../openapi/api-document.ts"
import type { PlanSchemas } from "../../openapi/plan-schemas.ts"
import { readingsOf } from "../../openapi/readings.ts"
import type { Schemas } from "../../openapi/schema.ts"
import type { SchemaOverrides } from "../../openapi/schema-overrides.ts"
import { type BoundStatement, headSpan, statementOf, statementsOf } from "../bind/bound.ts"
import type { DescribedOperation } from "../described.ts"
import type { PartRecorder, Unjudged } from "../recorder.ts"
import type { RouteScope, RouteSource } from "../routes.ts"
import { Memo } from "./memo.ts"
import type { Lowered, PlanSteps } from "./step.ts"
import { actionOf, bytesDefault, errorsOf } from "./violations.ts"

type ParameterRule = StepOf<"validate-parameters">["parameters"][number]
type HeaderRules = NonNullable<StepOf<"validate-headers">["described"]>[number]
type Direction = "request" | "response"

/** Steps that validate the messages of routes against their OpenAPI documents. */
export class Validation {
  readonly #schemas: PlanSchemas
  readonly #steps: PlanSteps
  readonly #report: Report
  readonly #memo: Memo
  readonly #recorder: PartRecorder | undefined
  /** The first of each document, because most documents describe each body both in JSON and XML. */
  readonly #unjudged = new Map<Schemas, Unjudged>()

  constructor(schemas: PlanSchemas, steps: PlanSteps, report: Report, recorder?: PartRecorder) {
    this.#memo = new Memo(recorder)
    this.#recorder = recorder
    this.#schemas = schemas
    this.#steps = steps
    this.#report = report
  }

  /** The rules for bodies of a described operation; for responses by status. */
  contents(
    described: DescribedOperation,
    direction: Direction,
    action: ViolationAction,
    overrides: SchemaOverrides = {},
  ): ContentRule[] {
    const { operation, document } = described
    const rules = (contents: readonly Content[]): ContentRule[] =>
      contents.flatMap((each) => this.#rules(each, document.schemas, { direction, action, overrides }))
    if (direction === "request") return rules(operation.body?.contents ?? [])
    return operation.responses.flatMap(({ status, contents }) =>
      // For a response each status has its own bodies.
      rules(contents).map((rule) => ({ ...rule, status })),
    )
  }

  /** The rules for parameters of a described operation, by place and name. Path parameters have the route's names. */
  parameters({ operation, document, names }: DescribedOperation, action: ViolationAction): ParameterRule[] {
    const rules = operation.parameters.map((each) => ({
      in: each.in,
      name: each.in === "path" ? (names.get(each.name) ?? each.name) : each.name,
      required: each.required,
      style: each.style,
      explode: each.explode,
      ...(each.allowEmpty ? { allowEmpty: true as const } : {}),
      ...this.#schema(document.schemas, each.schema, "request"),
      action,
    }))
    // Sorted by place and name: the order in the document means nothing.
    return rules.sort(inOrder)
  }

  /** The rules for headers of responses. All statuses are listed, so that a status without headers does not fall back to `default`. */
  headers({ operation, document }: DescribedOperation, action: ViolationAction): HeaderRules[] {
    return operation.responses.map(({ status, headers }) => ({
      status,
      // The content type is checked by the rules for bodies (OpenAPI 3.1 §4.8.17).
      headers: headers
        .filter(({ name }) => name.toLowerCase() !== "content-type")
        .map(({ name, required, style, explode, schema }) => ({
          ...{ name: name.toLowerCase(), required, style, explode },
          // Without an action the schema is not needed, and stays out of the plan.
          ...this.#schema(document.schemas, action === "ignore" ? undefined : schema, "response"),
          action,
        })),
    }))
  }

  /**
   * The validation steps for one direction; empty without a `validate` statement. `chain`: scopes of the route from the innermost outwards.
   */
  steps(source: RouteSource, chain: readonly (RouteScope | undefined)[], direction: Direction): Lowered[] {
    const statement = this.#nearest(chain, direction)
    if (statement === undefined) return []
    if (source.described === undefined) {
      // An `extra` operation of a described API has no description to validate against. Report that only for its own `validate`.
      const own = statementsOf(source.scopes.operation.block, "validate").includes(statement)
      // `unread`: the document has a mistake, and the operation may be described in it.
      if (source.inDescribed !== "unread" && (own || !source.inDescribed)) this.#reportUndescribed(statement)
      return []
    }
    const settings = new Settings(statement)
    const made = direction === "request" ? this.#request(source, settings) : this.#response(source, settings)
    return made.map((step) => this.#steps.add(step, headSpan(statement.statement)))
  }

  /**
   * The variables that the statements for these directions set. Also set on routes without validation, because statements of an API may
   * name them on all routes.
   */
  leaves(
    chain: readonly (RouteScope | undefined)[],
    ...directions: readonly Direction[]
  ): Readonly<Record<string, CelType>> {
    const statements = directions.flatMap((direction) => this.#nearest(chain, direction) ?? [])
    const names = statements.flatMap((statement) => new Settings(statement).errors.errors ?? [])
    return Object.fromEntries(names.map((name) => [name, "dyn"]))
  }

  /** The nearest `validate` for a direction. */
  #nearest(chain: readonly (RouteScope | undefined)[], direction: Direction): BoundStatement | undefined {
    for (const scope of chain) {
      const [first, second] = statementsOf(scope?.block, "validate").filter(({ statement }) => {
        // The direction is a word of the statement, not a name.
        const [word] = statement.args
        return word?.kind === "word" && word.text === direction
      })
      if (second !== undefined)
        this.#memo.once(`twice ${this.#memo.idOf(second)}`, () =>
          this.#report.add("SP2008", headSpan(second.statement), `\`validate ${direction}\` is given twice`),
        )
      if (first !== undefined) return first
    }
    return undefined
  }

  /** Reported once for each statement, not for each route. */
  #reportUndescribed(statement: BoundStatement): void {
    this.#memo.once(`undescribed ${this.#memo.idOf(statement)}`, () =>
      this.#report.add(
        "SP8012",
        headSpan(statement.statement),
        "no OpenAPI document describes what to validate",
      ),
    )
  }

  /** Parameters come first. If there is a body to validate, their violations are reported together with those of the body. */
  #request({ described }: RouteSource, settings: Settings): Judging[] {
    if (described === undefined) return []
    const parameters = this.#parameters(described, settings)
    const contents = this.#bodies(described, settings)
    // Without rules for parameters there is nothing to join.
    if (parameters === undefined) return contents
    const withBody = contents.length > 0 && mayPrevent(parameters) ? { withBody: true as const } : {}
    return [{ ...parameters, ...withBody }, ...contents]
  }

  #bodies(described: DescribedOperation, settings: Settings): StepOf<"validate-content">[] {
    const { body } = described.operation
    // The document says that there is no body; then any body is "unknown content".
    if (body === undefined && !settings.says("unknown-content")) return []
    const content = settings.action("content")
    const missing = body?.required === true && content !== "ignore" ? { onMissing: content } : {}
    return settings.content("request", this.contents(described, "request", content), missing)
  }

  /** Undefined if the step would check nothing. */
  #parameters(described: DescribedOperation, settings: Settings): StepOf<"validate-parameters"> | undefined {
    const action = settings.action("parameters")
    const unspecified = {
      query: settings.action("unknown-query", "ignore"),
      header: settings.action("unknown-headers", "ignore"),
    }
    const parameters = this.parameters(described, action)
    // Rules without an action check nothing, but rules for unknown parameters may.
    const judges = parameters.length > 0 && action !== "ignore"
    if (!judges && unspecified.query === "ignore" && unspecified.header === "ignore") return undefined
    return {
      kind: "validate-parameters",
      parameters,
      unspecified,
      ...settings.errors,
    }
  }

  /** The checks of a response. Without `default`, other statuses are undescribed. */
  #response({ described }: RouteSource, settings: Settings): Judging[] {
    if (described === undefined) return []
    const { operation } = described
    const judging: Judging[] = []
    const unspecified = settings.action("status", "ignore")
    const codes = operation.responses.map(({ status }) => status)
    // With `default`, every status is described.
    if (unspecified !== "ignore" && !codes.includes("default"))
      judging.push({
        kind: "validate-status",
        codes: [...codes].sort().map((code) => ({ code, action: "ignore" as const })),
        unspecified,
        ...settings.errors,
      })
    judging.push(...this.#headers(described, settings))
    const content = settings.action("content")
    const types = this.contents(described, "response", content)
    // No body is described: then the response is not read.
    return types.length === 0 ? judging : [...judging, ...settings.content("response", types, {})]
  }

  #headers(operation: DescribedOperation, settings: Settings): StepOf<"validate-headers">[] {
    const action = settings.action("headers")
    const unspecified = settings.action("unknown-headers", "ignore")
    const described = this.headers(operation, action)
    const judges = action !== "ignore" && described.some(({ headers }) => headers.length > 0)
    if (!judges && unspecified === "ignore") return []
    return [{ kind: "validate-headers", headers: [], described, unspecified, ...settings.errors }]
  }

  /** A rule for each way in which bodies of a media type are read. */
  #rules(
    content: Content,
    schemas: Schemas,
    {
      direction,
      action,
      overrides,
    }: { direction: Direction; action: ViolationAction; overrides: SchemaOverrides },
  ): ContentRule[] {
    const { media, span, schema, fields } = content
    return readingsOf(content, schemas, direction).map(({ range, as, judges }) => {
      // A body of bytes has no form to check, so it needs no warning.
      if (!judges && schema !== undefined && range === media && action !== "ignore" && as !== "bytes")
        this.tellUnjudged({
          ...{ schemas, span },
          detail: `bodies of \`${media}\` ${as === "xml" ? "are only checked to be well-formed, not against the schema" : "are not checked"}`,
        })
      return {
        media: range,
        as: as === "bytes" ? "any" : as,
        ...this.#schema(schemas, judges ? schema : undefined, direction, as === "json" ? overrides : {}),
        ...(as === "json" && judges && overrides.anyCase === true ? { anyCase: true as const } : {}),
        ...(fields.length === 0
          ? {}
          : { fields: fields.map((field) => ({ ...field, media: [...field.media] })) }),
        action,
      }
    })
  }

  /** Notes bodies that are not checked. */
  tellUnjudged(each: Unjudged): void {
    if (!this.#unjudged.has(each.schemas)) this.#unjudged.set(each.schemas, each)
    this.#recorder?.note(({ validation }) => validation.tellUnjudged(each))
  }

  /** Call it after all routes. */
  report(): void {
    for (const { span, detail } of this.#unjudged.values()) this.#report.add("SP8018", span, detail)
  }

  #schema(
    schemas: Schemas,
    key: OperationParameter["schema"],
    direction: Direction,
    overrides: SchemaOverrides = {},
  ): { schema?: string } {
    return key === undefined ? {} : { schema: this.#schemas.use(schemas, key, direction, overrides) }
  }
}

type Judging = StepOf<"validate-content" | "validate-parameters" | "validate-status" | "validate-headers">

/** The settings of a `validate` statement, with its defaults. */
class Settings {
  readonly #block: BoundStatement["block"]
  readonly #action: ViolationAction
  readonly errors: ReturnType<typeof errorsOf>

  constructor(bound: BoundStatement) {
    this.#block = bound.block
    this.#action = actionOf(bound)
    this.errors = errorsOf(bound)
  }

  action(keyword: string, byDefault: ViolationAction = this.#action): ViolationAction {
    return statementOf(this.#block, keyword)?.args.value<ViolationAction>("action") ?? byDefault
  }

  says(keyword: string): boolean {
    return statementOf(this.#block, keyword) !== undefined
  }

  /** The step for bodies, if there is anything to validate. */
  content(
    message: Direction,
    types: readonly ContentRule[],
    missing: { onMissing?: ViolationAction },
  ): StepOf<"validate-content">[] {
    const content = this.action("content")
    const onUnspecified = this.action("unknown-content", content)
    const size = statementOf(this.#block, "size")?.args
    const onSize = size?.value<ViolationAction>("action") ?? content
    // Nothing to do: without the step, the body is streamed.
    if (content === "ignore" && onUnspecified === "ignore" && onSize === "ignore") return []
    return [
      {
        kind: "validate-content",
        message,
        bytesMax: size?.value<number>("size") ?? bytesDefault,
        onSize,
        onUnspecified,
        ...missing,
        types: [...types],
        ...this.errors,
      },
    ]
  }
}

function mayPrevent({ parameters, unspecified }: StepOf<"validate-parameters">): boolean {
  return [unspecified.query, unspecified.header, ...parameters.map(({ action }) => action)].includes(
    "prevent",
  )
}

function inOrder(a: { in: string; name: string }, b: { in: string; name: string }): number {
  return `${a.in} ${a.name}` < `${b.in} ${b.name}` ? -1 : 1
}
