import { CheckError } from "../../runtime/check/ports.ts"
import type { Authorizer } from "../../runtime/policies/policy.ts"

/** An authorizer of checks alone: a batch asks them one by one, and nothing can be written. */
export function authorizerOf(check: Authorizer["check"]): Authorizer {
  return {
    check,
    async batch(store, requests, asker) {
      const results = requests.map(async (request) => {
        try {
          return await check(store, request, asker)
        } catch (error) {
          if (error instanceof CheckError) return error
          throw error
        }
      })
      return { results: await Promise.all(results) }
    },
    change: () => Promise.reject(new CheckError("unavailable", "nothing can be written here")),
  }
}
