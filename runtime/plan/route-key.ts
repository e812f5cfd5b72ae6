/** The key of a route in the plan: `METHOD /path`, and for some hosts only `METHOD api.example.com,*.example.com/path`. */
export function routeKeyOf(route: {
  readonly method: string
  readonly path: string
  readonly hosts?: readonly string[] | undefined
}): string {
  return `${route.method} ${(route.hosts ?? []).join(",")}${route.path}`
}
