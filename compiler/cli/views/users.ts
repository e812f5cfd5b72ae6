interface ListedUser {
  readonly object?: { readonly type: string; readonly id: string }
  readonly userset?: { readonly type: string; readonly id: string; readonly relation: string }
  readonly wildcard?: { readonly type: string }
}

/** Users in the format of the engine's API. */
export interface ListedUsers {
  readonly users: readonly ListedUser[]
  /** Users excluded from a wildcard in `users`. */
  readonly excluded_users?: readonly ListedUser[]
}

/** A user in the notation of tuples: `user:ann`, `user:*` or `group:eng#member`. */
export function userText({ object, userset, wildcard }: ListedUser): string {
  if (wildcard !== undefined) return `${wildcard.type}:*`
  return userset === undefined
    ? `${object?.type}:${object?.id}`
    : `${userset.type}:${userset.id}#${userset.relation}`
}
