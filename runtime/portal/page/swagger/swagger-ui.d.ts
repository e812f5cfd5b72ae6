/** What this page uses of Swagger UI: the package has no types. */
declare module "swagger-ui-dist/swagger-ui-es-bundle.js" {
  /** The React of the bundle. */
  export interface BundledReact {
    createElement(type: string, props: object): object
  }

  interface SwaggerSettings {
    readonly domNode: HTMLElement
    readonly spec: object
    readonly deepLinking: boolean
    readonly persistAuthorization: boolean
    readonly queryConfigEnabled: boolean
    readonly supportedSubmitMethods: readonly string[]
    readonly validatorUrl: null
    readonly plugins: readonly ((system: { readonly React: BundledReact }) => object)[]
  }

  export default function SwaggerUI(settings: SwaggerSettings): void
}
