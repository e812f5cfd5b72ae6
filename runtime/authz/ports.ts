import type { QuestionWork } from "../check/counts.ts"
import type { Engine } from "../check/engine.ts"
import type { LoadedModel } from "../check/loaded-model.ts"
import type { CheckAnswer, CheckRequest, TupleChange } from "../check/ports.ts"
import type { Freshness } from "../check/questions.ts"
import type { EngineWork } from "../check/work.ts"
import type { AuthorizationModel, ModelPlan } from "../plan/authorization-model.ts"
import { engineLimitDefaults } from "../plan/authz.ts"
import type { Database } from "../store/database.ts"
import type { Tracer } from "../tracing/tracer.ts"
import type { Access } from "./access.ts"
import type { LogFault } from "./answer.ts"
import type { ApiObserver } from "./observed.ts"

/** The engine as this API needs it (`Engine` of runtime/check). An answer that is available at once comes without a promise. */
export interface CheckEngine {
  check(
    storeId: string,
    model: LoadedModel,
    request: CheckRequest,
    counted?: QuestionWork,
  ): CheckAnswer | Promise<CheckAnswer>
  /** Any other question, as one of the works of runtime/check. */
  ask<Answer>(
    storeId: string,
    work: EngineWork<Answer>,
    freshness?: Freshness,
    counted?: QuestionWork,
  ): Answer | Promise<Answer>
  /** The limits of these works. */
  readonly bounds: Engine["bounds"]
  /** Applies writes of this process, in order of revision, before their requests are answered. */
  applied(storeId: string, changes: readonly TupleChange[]): void
  /** Call it when a store was deleted. */
  dropped(storeId: string): void
}

/** Limits of one request. Comments name OpenFGA's flags and rules, and say where a default differs from OpenFGA's. `null`: no limit. */
export interface AuthzLimits {
  /** Maximum bytes of a request's body, else 413. OpenFGA: 512 × 1204. */
  readonly bodyBytesMax: number
  /** Deadline of one request in milliseconds, else 504. Lists have their own. `--request-timeout`. */
  readonly requestMs: number
  /** Maximum writes and deletions of one request together. `--max-tuples-per-write`. */
  readonly tuplesPerWriteMax: number
  /** Maximum contextual tuples of one question. */
  readonly contextualTuplesMax: number
  /** Maximum bytes of the context stored with a tuple, as JSON. */
  readonly conditionContextBytesMax: number
  /** `--max-types-per-authorization-model`. */
  readonly typesPerModelMax: number
  /** Maximum bytes of a model in protobuf. `--max-authorization-model-size-in-bytes`. */
  readonly modelBytesMax: number
  /** `--max-checks-per-batch-check`. */
  readonly checksPerBatchMax: number
  /**
   * Maximum results of one list-objects. `--listObjects-max-results` is 1000 in OpenFGA and cuts silently; here the default is complete
   * lists.
   */
  readonly listObjectsMax: number | null
  /** Milliseconds after which list-objects ends with the results so far and marks the list as truncated. `--listObjects-deadline`. */
  readonly listObjectsMs: number
  /** Maximum results of one list-users, as for objects. `--listUsers-max-results`. */
  readonly listUsersMax: number | null
  /** `--listUsers-deadline`. */
  readonly listUsersMs: number
  /** Maximum `page_size` of the lists of objects and users. */
  readonly listPageSizeMax: number
  /** Maximum of users × relations × objects in one matrix. */
  readonly matrixCellsMax: number
  /** Maximum `page_size` of changes. `--readChanges-max-page-size`. */
  readonly changesPageSizeMax: number
  /** Changes younger than this many milliseconds are not listed yet. `--changelog-horizon-offset`. */
  readonly changesHorizonMs: number
  /** Maximum watchers of a process. */
  readonly watchersMax: number
  /** Maximum assertions of one model. */
  readonly assertionsMax: number
  /** Maximum bytes of a model's assertions, as JSON. */
  readonly assertionsBytesMax: number
  /** Maximum contextual tuples of one assertion. */
  readonly assertionTuplesMax: number
}

/** The defaults of a plan. */
export const authzLimits: AuthzLimits = engineLimitDefaults

/** Which cross-origin requests are allowed. Without it none is: a request from a page of another origin is refused. */
export interface AuthzCors {
  /** `https://console.example.com`, or `*` for any. */
  readonly origins: readonly string[]
  /** Request headers a page may send, or `*`. */
  readonly headers: readonly string[]
}

/**
 * AuthZEN: the default store, by name or id, for the standard's own paths, and the URL by which clients reach this API, for the metadata.
 */
export interface AuthzenSettings {
  readonly store: string | undefined
  readonly url: string | undefined
}

/** Models as text (OpenFGA's DSL). The compiler provides it; a runtime without it reads and writes JSON only. */
export interface ModelText {
  /** The model of a text, or all of its errors; lines and columns start at 1. */
  read(text: string):
    | { readonly model: AuthorizationModel }
    | {
        readonly problems: readonly {
          readonly line: number
          readonly column: number
          readonly message: string
        }[]
      }
  /** The text of a model, or the reason why it cannot be printed. */
  print(model: AuthorizationModel): { readonly text: string } | { readonly problem: string }
}

/** A refused request, for the operators' log. The path is as sent; no field contains a credential. */
export interface RejectedRequest {
  readonly code: string
  readonly message: string
  /** Name of the key or the token's subject, if known. */
  readonly caller: string | undefined
  /** Address of the client's end of the connection. */
  readonly client: string
  readonly method: string
  readonly path: string
  readonly requestId: string
}

/** Receives what clients must not see. */
export interface Reports {
  readonly logFault: LogFault
  readonly logRefusal: (refusal: RejectedRequest) => void
}

/** The dependencies of the API. Functions are called each time, so that a new plan needs no new listener. */
export interface AuthzParts {
  readonly database: Database
  readonly engine: CheckEngine
  /** The running plan's model with that digest, already lowered by the compiler. */
  readonly planModel?: ((digest: string) => ModelPlan | undefined) | undefined
  /** Maximum age of cached stores while the database is unavailable, in milliseconds; null: no maximum. Default: 10 s. */
  readonly maxStalenessMs?: (() => number | null) | undefined
  /** Default: `authzLimits`. */
  readonly limits?: (() => AuthzLimits) | undefined
  /** Default: no cross-origin requests. */
  readonly cors?: (() => AuthzCors) | undefined
  /**
   * Host names that the listeners accept in addition to IP addresses, `localhost` and the machine's name (`OwnNames.more`). Default:
   * none.
   */
  readonly hosts?: readonly string[] | undefined
  /** Default: no default store, and as URL the address that each request has reached. */
  readonly authzen?: (() => AuthzenSettings) | undefined
  /** Authentication and grants; undefined: no authentication. Default: undefined. */
  readonly access?: (() => Access | undefined) | undefined
  /** Without it models are JSON only, and text gets 415. */
  readonly modelText?: ModelText | undefined
  /** For `/healthz`. Default: the database answers and has this version's schema. */
  readonly healthy?: (() => Promise<boolean>) | undefined
  /** Called with internal errors and faults of the database. */
  readonly onFault?: LogFault | undefined
  /** Told of every request, for metrics and logs. Default: nothing observes them. */
  readonly observer?: ApiObserver | undefined
  /** Traces of the running plan. Default: requests are not traced. */
  readonly tracer?: (() => Tracer | undefined) | undefined
  /** Called with refused requests: 401, and 403 for missing grants and pages of other origins. */
  readonly onRefusal?: Reports["logRefusal"] | undefined
}
