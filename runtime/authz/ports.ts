import type { Engine } from "../check/engine.ts"
import type { LoadedModel } from "../check/loaded-model.ts"
import type { CheckAnswer, CheckRequest, TupleChange } from "../check/ports.ts"
import type { Freshness } from "../check/questions.ts"
import type { EngineWork } from "../check/work.ts"
import type { AuthorizationModel, ModelPlan } from "../plan/authorization-model.ts"
import { engineLimitDefaults } from "../plan/authz.ts"
import type { Database } from "../store/database.ts"
import type { Access } from "./access.ts"
import type { LogFault } from "./answer.ts"

/** The engine as this API needs it (`Engine` of runtime/check). An answer at hand comes without a promise. */
export interface CheckEngine {
  check(storeId: string, model: LoadedModel, request: CheckRequest): CheckAnswer | Promise<CheckAnswer>
  /** Any other question: the works of runtime/check. */
  ask<Answer>(storeId: string, work: EngineWork<Answer>, freshness?: Freshness): Answer | Promise<Answer>
  /** What those works are bounded by. */
  readonly bounds: Engine["bounds"]
  /** Own writes, in order of revision, before their requests are answered. */
  applied(storeId: string, changes: readonly TupleChange[]): void
  /** A store was deleted. */
  dropped(storeId: string): void
}

/**
 * How much one request may ask for. The names of OpenFGA's flags and rules are in the comments; where a default differs from OpenFGA's, the comment says so.
 * `null`: no bound.
 */
export interface AuthzLimits {
  /** Bytes of a request's body; more is 413. OpenFGA: 512 × 1204. */
  readonly bodyBytesMax: number
  /** Time for the answer of one request, but for lists, which have their own; more is 504. `--request-timeout`. */
  readonly requestMs: number
  /** Writes and deletes of one request together. `--max-tuples-per-write`. */
  readonly tuplesPerWriteMax: number
  /** Contextual tuples of one question. */
  readonly contextualTuplesMax: number
  /** Bytes of the context stored with a tuple, as JSON. */
  readonly conditionContextBytesMax: number
  /** `--max-types-per-authorization-model`. */
  readonly typesPerModelMax: number
  /** Bytes of a model in protobuf. `--max-authorization-model-size-in-bytes`. */
  readonly modelBytesMax: number
  /** `--max-checks-per-batch-check`. */
  readonly checksPerBatchMax: number
  /** Results of one list-objects. `--listObjects-max-results` is 1000 there and cuts silently; here lists are complete unless told otherwise. */
  readonly listObjectsMax: number | null
  /** After this time a list-objects ends with what it has and says so. `--listObjects-deadline`. */
  readonly listObjectsMs: number
  /** Results of one list-users, as for objects. `--listUsers-max-results`. */
  readonly listUsersMax: number | null
  /** `--listUsers-deadline`. */
  readonly listUsersMs: number
  /** Largest `page_size` of the lists of objects and users. */
  readonly listPageSizeMax: number
  /** Users × relations × objects of one matrix. */
  readonly matrixCellsMax: number
  /** Largest `page_size` of changes. `--readChanges-max-page-size`. */
  readonly changesPageSizeMax: number
  /** Changes younger than this are not told yet. `--changelog-horizon-offset`. */
  readonly changesHorizonMs: number
  /** Assertions of one model. */
  readonly assertionsMax: number
  /** Bytes of a model's assertions, as JSON. */
  readonly assertionsBytesMax: number
  /** Contextual tuples of one assertion. */
  readonly assertionTuplesMax: number
}

/** What counts when nothing is said: a plan's own defaults. */
export const authzLimits: AuthzLimits = engineLimitDefaults

/** Browsers' requests from other origins: which are let in. Without it none is, and a request that a page of another origin sends is refused. */
export interface AuthzCors {
  /** `https://console.example.com`, or `*` for any. */
  readonly origins: readonly string[]
  /** Request headers a page may send, or `*`. */
  readonly headers: readonly string[]
}

/** AuthZEN: the store that the standard's own paths mean, by name or id, and the URL by which clients reach this API (metadata tells it). */
export interface AuthzenSettings {
  readonly store: string | undefined
  readonly url: string | undefined
}

/** Models as text (OpenFGA's DSL). The compiler has it; a runtime without it takes and gives JSON only. */
export interface ModelText {
  /** The model of a text, or everything that is wrong with it; lines and columns from 1. */
  read(text: string):
    | { readonly model: AuthorizationModel }
    | {
        readonly problems: readonly {
          readonly line: number
          readonly column: number
          readonly message: string
        }[]
      }
  /** The text of a model, or why it has none. */
  print(model: AuthorizationModel): { readonly text: string } | { readonly problem: string }
}

/** A request that was not let in, for the operators' log. The path is as it was sent; a credential is nowhere in it. */
export interface RejectedRequest {
  readonly code: string
  readonly message: string
  /** Name of the key or the token's subject, where it is known. */
  readonly caller: string | undefined
  /** Address of the connection's other end. */
  readonly client: string
  readonly method: string
  readonly path: string
  readonly requestId: string
}

/** Where what clients are not told goes. */
export interface Reports {
  readonly logFault: LogFault
  readonly logRefusal: (refusal: RejectedRequest) => void
}

/** What the API is made of. Functions are asked each time, so that a new plan needs no new listener. */
export interface AuthzParts {
  readonly database: Database
  readonly engine: CheckEngine
  /** The running plan's model of that digest, lowered by the compiler already. */
  readonly planModel?: ((digest: string) => ModelPlan | undefined) | undefined
  /** How old what we know of stores may be while the database is away; null: any age. Default 10 s. */
  readonly maxStalenessMs?: (() => number | null) | undefined
  /** Default `authzLimits`. */
  readonly limits?: (() => AuthzLimits) | undefined
  /** Default: no other origin is let in. */
  readonly cors?: (() => AuthzCors) | undefined
  /** Names that the listeners answer to besides IP addresses, `localhost` and the machine's name (`OwnNames.more`). Default: none. */
  readonly hosts?: readonly string[] | undefined
  /** Default: no default store, and the address each request has reached as URL. */
  readonly authzen?: (() => AuthzenSettings) | undefined
  /** Who may ask what; undefined: nobody is asked who they are. Default undefined. */
  readonly access?: (() => Access | undefined) | undefined
  /** Without it models are JSON only: 415 for text. */
  readonly modelText?: ModelText | undefined
  /** For `/healthz`; default: whether the database answers and has this version's schema. */
  readonly healthy?: (() => Promise<boolean>) | undefined
  /** Told of our own faults and of those of the database. */
  readonly onFault?: LogFault | undefined
  /** Told of requests that were not let in: 401, and 403 for grants and pages of other origins. */
  readonly onRefusal?: Reports["logRefusal"] | undefined
}
