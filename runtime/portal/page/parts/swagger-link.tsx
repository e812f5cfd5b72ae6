import { addressOf } from "../../../control/console/page/router.ts"

interface SwaggerLinkProps {
  readonly api: string
  readonly version: string
  readonly class?: string
}

/** Opens the whole document of a version in Swagger UI. */
export function SwaggerLink({ api, version, class: className }: SwaggerLinkProps) {
  return (
    // It is a page of its own, which the pages of the portal cannot show in their place.
    <a class={className} rel="external" href={addressOf(["swagger", api, version])}>
      Swagger UI
    </a>
  )
}
