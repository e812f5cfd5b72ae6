import type { AnswerHeaders } from "./answer.ts"
import type { AuthzApi } from "./api.ts"
import type { Fields } from "./fields.ts"

/** A request as the resources see it. `store` and `id` are the path's parts, decoded; absent ones are empty. */
export interface ApiRequest {
  readonly store: string
  readonly id: string
  readonly query: URLSearchParams
  readonly body: Fields
}

/** Without a body nothing is sent. */
export interface Answer {
  readonly status: number
  readonly body?: object
  readonly headers?: AnswerHeaders
}

/** One method of one resource. It throws `ApiError` and what `apiErrorOf` knows. */
export type Handler = (api: AuthzApi, request: ApiRequest) => Promise<Answer>
