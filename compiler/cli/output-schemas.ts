import * as z from "zod"
import { authorizationModel } from "../../runtime/plan/authorization-model.ts"
import { explanation } from "../../runtime/plan/explanation.ts"
import { step } from "../../runtime/plan/steps.ts"
import { risks } from "../analysis/finding.ts"
import { coverageKinds } from "../gateway-test/gateway-coverage.ts"

/** What a command prints with `--format json`. `lines`: one such document per line (JSON Lines) instead of a single one. */
export interface OutputSchema {
  readonly schema: z.ZodType
  readonly lines?: true
}

const text = z.string()
const count = z.number().int()
const names = z.array(text)

const position = z.strictObject({ line: count, column: count, offset: count })
const place = z.strictObject({ file: text, start: position, end: position })
/** See `jsonOfFinding`. */
const finding = z.strictObject({
  severity: z.enum(["error", "warning", "info"]),
  code: text,
  title: text,
  detail: text,
  help: text.nullable(),
  place: place.nullable(),
  related: z.array(z.strictObject({ message: text, place })),
  fix: z.array(z.strictObject({ place, text })).optional(),
})
const findings = z.strictObject({
  format: z.literal(1),
  errors: count,
  warnings: count,
  infos: count,
  findings: z.array(finding),
})

const risk = z.enum(risks)
const named = z.strictObject({ kind: text, name: text })
const userCounts = z.record(text, count)

/** What a change of a model means for users: `StorePeople`. */
const people = z.strictObject({
  source: text,
  revision: count.nullable(),
  tuples: count,
  whole: z.boolean(),
  users: userCounts,
  objects: count,
  compared: count,
  candidates: count,
  causes: z.array(
    z.looseObject({
      subject: text,
      relation: text.nullable(),
      object: text,
      tuples: count,
      users: count,
      objects: count,
      changes: userCounts,
    }),
  ),
  changedTuples: z.array(
    z.looseObject({ becomes: text, tuples: count, user: text, relation: text, type: text }),
  ),
  relations: z.array(
    z.looseObject({
      relation: text,
      objects: count,
      users: userCounts,
      sets: userCounts,
      groups: z.array(z.looseObject({ set: text, users: count, change: text, objects: count })),
      samples: z.array(z.looseObject({ user: text, object: text, change: text })),
    }),
  ),
})

/** One change of a plan; with `people` it is what the changes of a store's model mean for users. */
const change = z.strictObject({
  risk,
  danger: z.boolean(),
  action: z.enum(["added", "removed", "changed"]),
  subject: named,
  scope: named,
  routes: names,
  where: text,
  path: text,
  before: text.nullable(),
  after: text.nullable(),
  why: text,
  reasons: z.array(z.strictObject({ risk, why: text })),
  origin: text.nullable(),
  people: people.optional(),
})
const changes = z.array(change)

const counted = { requests: count, callers: count }
const treated = z.strictObject({ kind: z.enum(["served", "answered", "refused"]), words: text, by: text })

/** What recorded requests become: `replayDocument`. */
const replay = z.strictObject({
  recorded: z.strictObject(counted),
  period: z.strictObject({ from: text, to: text }).nullable(),
  unchanged: count,
  sent: count,
  concerned: z.strictObject({ ...counted, routes: z.array(z.strictObject({ route: text, ...counted })) }),
  differing: z.strictObject(counted),
  groups: z.array(
    z.strictObject({
      effect: z.enum(["opens", "closes", "changes"]),
      ...{ before: treated, after: treated, facts: names, ...counted },
      routes: z.array(z.strictObject({ route: text, requests: count })),
      example: z.strictObject({
        ...{ method: text, host: text, target: text, caller: text, at: text },
        facts: z.array(z.strictObject({ name: text, before: text.nullable(), after: text.nullable() })),
      }),
    }),
  ),
  notReplayed: z.array(z.strictObject({ reason: text, requests: count })),
  ofOtherPlans: count,
  segments: z.strictObject({ whole: count, torn: count, damaged: count, foreign: count, unknown: count }),
})

const tuple = z.strictObject({
  user: text,
  relation: text,
  object: text,
  condition: z
    .strictObject({ name: text, context: z.record(text, z.unknown()).optional() })
    .nullable()
    .optional(),
})

const linePlace = { line: count, column: count }
/** A question of a store file, with what was expected and what was found. */
const testedQuestion = z.looseObject({
  kind: z.enum(["check", "list_objects", "list_users"]),
  relation: text,
  ...linePlace,
  expected: z.union([z.boolean(), names]),
  got: z.union([z.boolean(), names]).optional(),
  error: text.optional(),
  passed: z.boolean(),
})
const storeTest = z.strictObject({
  name: text,
  description: text.optional(),
  ...linePlace,
  passed: z.boolean(),
  questions: z.array(testedQuestion),
})
const gatewayTest = z.strictObject({
  name: text,
  ...linePlace,
  passed: z.boolean().optional(),
  skipped: text.optional(),
  expectations: count.optional(),
  error: text.optional(),
  failures: z
    .array(z.strictObject({ request: text, what: text, ...linePlace, expected: text, got: text, why: names }))
    .optional(),
})
const shownOf = z.strictObject({ all: count, shown: count })
const gap = z.strictObject({ kind: z.enum(coverageKinds), what: text, place: text, routes: names })
const mutation = z.strictObject({
  config: text,
  weakened: count,
  noticed: count,
  unnoticed: z.array(z.strictObject({ what: text, place: text, routes: names, reached: z.boolean() })),
})
const testRun = z.strictObject({
  passed: z.boolean(),
  files: count,
  findings: z.array(finding),
  stores: z.array(
    z.strictObject({ file: text, name: text, model: text, passed: z.boolean(), tests: z.array(storeTest) }),
  ),
  gateways: z
    .array(z.strictObject({ file: text, name: text, passed: z.boolean(), tests: z.array(gatewayTest) }))
    .optional(),
  coverage: z
    .array(
      z.strictObject({
        model: text,
        parts: count,
        covered: count,
        gaps: z.array(z.looseObject({ of: text, text, file: text.optional() })),
      }),
    )
    .optional(),
  min_coverage: z.number().optional(),
  gateway_coverage: z
    .array(
      z.strictObject({
        config: text,
        percent: count,
        counts: z.record(z.enum(coverageKinds), shownOf),
        gaps: z.array(gap),
      }),
    )
    .optional(),
  mutations: z.array(mutation).optional(),
  fail_under: z.number().optional(),
})

const answerer = z.strictObject({ kind: text, place: text })
const field = z.tuple([text, text])
/** See `passageJson`. */
const passage = z.strictObject({
  response: z.strictObject({ status: count, headers: z.array(field), body: text }),
  route: text.optional(),
  problem: text.optional(),
  reason: text.optional(),
  cause: text.optional(),
  answered_by: answerer.optional(),
  steps: z.array(
    z.strictObject({
      kind: text,
      outcome: z.enum(["passed", "answered", "failed", "running"]),
      places: names,
    }),
  ),
  sent: z.array(
    z.strictObject({
      backend: text.optional(),
      origin: text,
      method: text,
      target: text,
      headers: z.array(field),
      body: text,
      answer: z.union([z.strictObject({ failure: text }), z.strictObject({ status: count })]),
    }),
  ),
  limits: z.array(
    z.strictObject({
      is: z.enum(["limit", "quota"]),
      counter: text,
      key: text,
      callsMax: count.optional(),
      periodSeconds: count,
      allowed: z.boolean(),
      left: count.optional(),
    }),
  ),
  decisions: z.array(
    z.strictObject({
      store: text,
      user: text,
      relation: text,
      object: text,
      allowed: z.boolean().optional(),
      explanation: explanation.optional(),
    }),
  ),
  changes: z.array(
    z.looseObject({
      store: text,
      statement: z.enum(["grant", "revoke"]),
      tuple: tuple.optional(),
      failure: text.optional(),
    }),
  ),
})

/** See `ExplainedStep`. */
const explainedStep = z.strictObject({
  at: text,
  place: text,
  state: z.enum(["passed", "answered", "unknown", "not-reached", "shown"]),
  step,
  notes: names,
  limit: z.looseObject({ key: text, callsMax: count, periodSeconds: count }).optional(),
  quota: z.looseObject({ key: text, periodSeconds: count }).optional(),
  proof: z
    .looseObject({ user: text, relation: text, object: text, allowed: z.boolean().optional() })
    .optional(),
  get inside() {
    return z.array(z.strictObject({ place: text, steps: z.array(explainedStep) }))
  },
})
/** See `RequestExplanation`. */
const requestExplanation = z.strictObject({
  request: z.strictObject({ method: text, path: text, host: text, ip: text }),
  live: z.boolean(),
  route: z
    .strictObject({
      key: text,
      place: text,
      api: text,
      version: text.nullable(),
      operation: text,
      parameters: z.record(text, text),
    })
    .nullable(),
  why: text,
  lost: z.array(z.strictObject({ route: text, place: text, loss: text, why: text })),
  login: z.strictObject({ client: text, does: text, place: text, order: names }).optional(),
  sections: z.array(z.strictObject({ name: text, steps: z.array(explainedStep) })),
  verdict: z
    .discriminatedUnion("kind", [
      z.strictObject({
        kind: z.literal("answered"),
        status: count,
        problem: text.optional(),
        cause: text.optional(),
        by: answerer.optional(),
        assuming: names,
      }),
      z.strictObject({
        kind: z.literal("forwarded"),
        backend: text,
        method: text,
        targets: z.array(z.looseObject({ origin: text, health: text, breaker: text, outstanding: count })),
        path: text,
        websocket: z.looseObject({ idleMs: count.nullable() }).optional(),
        assuming: names,
      }),
    ])
    .nullable(),
  trouble: names,
})
const codeEntry = z.strictObject({
  code: text,
  severity: finding.shape.severity,
  title: text,
  help: text,
  why: text.optional(),
})

const accessExample = z.strictObject({
  tuples: z.array(
    z.looseObject({
      ...{ user: text, relation: text, object: text, condition: text.optional() },
      context: z.record(text, z.unknown()).optional(),
    }),
  ),
  user: text,
  relation: text,
  object: text,
  context: z.record(text, z.unknown()).optional(),
})
const modelComparison = z.strictObject({
  added: names,
  removed: names,
  relations: z.array(
    z.strictObject({
      relation: text,
      verdict: z.enum(["same", "wider", "narrower", "incomparable"]),
      gain: accessExample.optional(),
      loss: accessExample.optional(),
      shown: z.union([z.enum(["proved", "without cycles", "unknown"]), z.strictObject({ fewerThan: count })]),
    }),
  ),
})
const explainedRelation = z.strictObject({
  relation: text,
  definition: text,
  place: text.optional(),
  dependsOn: z.looseObject({ kind: z.enum(["or", "and", "but not", "tuples", "relation", "from"]) }),
  conditions: z.array(z.strictObject({ name: text, parameters: names, expression: text })),
  dependents: z.array(
    z.strictObject({ relation: text, definition: text, place: text.optional(), direct: z.boolean() }),
  ),
  subjects: z.array(
    z.strictObject({
      subject: text,
      paths: z.array(z.strictObject({ relations: names, tuples: names, only: names })),
    }),
  ),
  routes: z.array(z.strictObject({ route: text, relation: text, place: text.optional() })).optional(),
})

const listedUser = z.union([
  z.strictObject({ object: z.strictObject({ type: text, id: text }) }),
  z.strictObject({ userset: z.strictObject({ type: text, id: text, relation: text }) }),
  z.strictObject({ wildcard: z.strictObject({ type: text }) }),
])
const tupleChange = z.strictObject({
  tuple_key: tuple,
  operation: z.enum(["TUPLE_OPERATION_WRITE", "TUPLE_OPERATION_DELETE"]),
  timestamp: text,
})

/** A document whose format another specification defines. */
const openapiDocument = z.looseObject({ openapi: text })

const ciStep = z.strictObject({
  command: text,
  status: z.enum(["passed", "failed", "changes", "skipped"]),
  note: text,
  output: text,
})
const doctorCheck = z.strictObject({
  status: z.enum(["ok", "warning", "failed"]),
  what: text,
  help: text.optional(),
})

/** Of commands that need no answer of a running Sallyport, by command. */
const ownOutputs: Readonly<Record<string, OutputSchema>> = {
  playground: { schema: z.strictObject({ folder: text, files: count }) },
  init: { schema: z.strictObject({ folder: text, example: text, files: names }) },
  validate: { schema: findings },
  fmt: { schema: z.strictObject({ formatted: names.optional(), unformatted: names.optional() }) },
  test: { schema: testRun },
  ci: { schema: z.strictObject({ format: z.literal(1), passed: z.boolean(), steps: z.array(ciStep) }) },
  doctor: { schema: z.strictObject({ format: z.literal(1), ok: z.boolean(), checks: z.array(doctorCheck) }) },
  "model compare": { schema: modelComparison },
  "model explain": { schema: explainedRelation },
  "model print": { schema: authorizationModel },
  "export openapi": { schema: openapiDocument },
  "try request": { schema: passage },
  plan: { schema: changes },
  diff: { schema: changes },
  replay: { schema: replay },
}

/** Of commands that ask the engine, by command. */
const engineOutputs: Readonly<Record<string, OutputSchema>> = {
  check: { schema: z.looseObject({ allowed: z.boolean(), explanation: explanation.optional() }) },
  "list-objects": { schema: z.strictObject({ objects: names }) },
  "list-users": {
    schema: z.strictObject({ users: z.array(listedUser), excluded_users: z.array(listedUser).optional() }),
  },
  "tuple write": { schema: z.strictObject({ written: tuple }) },
  "tuple delete": { schema: z.strictObject({ deleted: tuple }) },
  "tuple read": { schema: z.strictObject({ key: tuple, timestamp: text }), lines: true },
  "tuple export": { schema: tuple, lines: true },
  "tuple import": { schema: z.strictObject({ written: count, existing: count }) },
  watch: { schema: z.union([tupleChange, z.strictObject({ token: text })]), lines: true },
}

/** Of commands that print answers of the control API, by command. */
function controlOutputs(
  api: typeof import("../../runtime/control/api.ts"),
): Readonly<Record<string, OutputSchema>> {
  const shownPlan = z.strictObject({ record: api.planRecord, changes: changes.nullable() })
  const auditRow = z.strictObject({ seq: count, hash: text, entry: z.record(text, z.unknown()) })
  const { head } = api.auditAnswer.shape
  const acts = ["show", "approve", "reject", "suspend", "activate", "cancel"]
  return {
    explain: { schema: z.union([codeEntry, requestExplanation, api.refusalAnswer]) },
    history: { schema: z.union([z.array(api.planRecord), shownPlan]) },
    status: { schema: api.statusAnswer },
    "canary status": { schema: api.canaryAnswer },
    console: { schema: z.strictObject({ url: text, seconds: count }) },
    whoami: { schema: api.whoamiAnswer },
    "control-token create": { schema: api.createdToken },
    "control-token list": { schema: z.strictObject({ tokens: z.array(api.controlToken) }) },
    "control-token revoke": { schema: z.strictObject({ revoked: text }) },
    "audit verify": {
      schema: z.strictObject({ unchanged: z.boolean(), count, last: head, problems: names }),
    },
    "audit export": { schema: auditRow, lines: true },
    "audit prune": { schema: z.strictObject({ deleted: count }) },
    migrate: {
      schema: z.strictObject({ database: text, applied: names, capabilities: z.array(api.capabilityStatus) }),
    },
    prune: { schema: z.strictObject({ dryRun: z.boolean(), deleted: api.pruned }) },
    "model moves": { schema: api.movesAnswer },
    "model finish": { schema: api.finishedMoves },
    "subscription create": { schema: api.issuedAnswer },
    "subscription list": { schema: api.subscriptionsAnswer },
    ...Object.fromEntries(acts.map((act) => [`subscription ${act}`, { schema: api.subscription }])),
    "subscription rotate": { schema: api.issuedAnswer },
    "subscription delete": { schema: z.strictObject({ deleted: text }) },
    usage: { schema: api.usageAnswer },
  }
}

/**
 * The documents that commands print with `--format json` (or `--json`), by command. New versions may add fields. Only `sallyport schema` and tests load
 * them.
 */
export async function loadOutputSchemas(): Promise<Readonly<Record<string, OutputSchema>>> {
  const api = await import("../../runtime/control/api.ts")
  return { ...ownOutputs, ...controlOutputs(api), ...engineOutputs }
}

/** JSON Schema (draft 2020-12) of what a command prints. Further fields are allowed, as new versions may add some. */
export function outputJsonSchema(command: string, summary: string, { schema, lines }: OutputSchema): object {
  const document = z.toJSONSchema(schema, {
    target: "draft-2020-12",
    reused: "ref",
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
    },
  })
  return {
    ...document,
    $id: `urn:sallyport:output:${command.replaceAll(" ", "-")}`,
    title: `${lines ? "A line" : "Output"} of \`sallyport ${command}\` as JSON`,
    description: summary,
  }
}
