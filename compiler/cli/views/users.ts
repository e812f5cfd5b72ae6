interface ListedUser {
  readonly object?: { readonly type: string; readonly id: string }
  readonly userset?: { readonly type: string; readonly id: string; readonly relation: string }
  readonly wildcard?: { readonly type: string }
}

/** Users as the engine's API lists them. */
export interface ListedUsers {
  readonly users: readonly ListedUser[]
  /** Users that a wildcard among `users` does not cover. */
  readonly excluded_users?: readonly ListedUser[]
}

/** A listed user as tuples name it: `user:ann`, `user:*` or `group:eng#member`. */
export function userText({ object, userset, wildcard }: ListedUser): string {
  if (wildcard !== undefined) return `${wildcard.type}:*`
  return userset === undefined
    ? `${object?.type}:${object?.id}`
    : `${userset.type}:${userset.id}#${userset.relation}`
}
