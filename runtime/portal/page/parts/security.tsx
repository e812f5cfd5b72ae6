import { Panel } from "../../../control/console/page/parts/basic.tsx"
import type { DocumentObject, OperationAnswer } from "../../api.ts"
import { listOf, objectOf, wordOf } from "./document.ts"
import { Markdown } from "./markdown.tsx"

/** The credentials that an operation needs: alternatives, each of which may need several together. */
export function Security({
  found: { operation, securitySchemes },
}: {
  readonly found: Pick<OperationAnswer, "operation" | "securitySchemes">
}) {
  if (operation["security"] === undefined) return null
  const ways = listOf(operation["security"]).map((way) => Object.entries(objectOf(way)))
  return (
    <Panel title="Credentials" aside={ways.length > 1 ? "one of these" : undefined}>
      {ways.length === 0 && <p>None are needed.</p>}
      <ul class="ways">
        {ways.map((way) => (
          <li key={way.map(([name]) => name).join(" ")}>
            {way.length === 0 && "none"}
            {way.map(([name, scopes], at) => (
              <Credential
                key={name}
                scheme={objectOf(securitySchemes[name])}
                scopes={listOf(scopes).map(String)}
                isFurther={at > 0}
              />
            ))}
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function Credential(props: {
  readonly scheme: DocumentObject
  readonly scopes: readonly string[]
  readonly isFurther: boolean
}) {
  const { scheme, scopes, isFurther } = props
  const description = wordOf(scheme["description"])
  return (
    <>
      <p>
        {isFurther && "and "}
        <Kind scheme={scheme} />
        {scopes.length > 0 && (
          <>
            {scopes.length === 1 ? " with the scope " : " with the scopes "}
            {scopes.map((scope, at) => (
              <>
                {at > 0 && ", "}
                <code>{scope}</code>
              </>
            ))}
          </>
        )}
      </p>
      {description !== undefined && <Markdown text={description} />}
    </>
  )
}

function Kind({ scheme }: { readonly scheme: DocumentObject }) {
  const { type, in: place, name, scheme: word, bearerFormat } = scheme
  if (type === "apiKey")
    return (
      <>
        a key in the {place === "query" ? "query parameter" : String(place)} <code>{String(name)}</code>
      </>
    )
  if (type === "mutualTLS") return <>a client certificate</>
  if (word === "basic") return <>user and password (Basic)</>
  const format = wordOf(bearerFormat)
  const kind = type === "oauth2" ? "OAuth 2.0" : type === "openIdConnect" ? "OpenID Connect" : format
  if (type === "http" && word !== "bearer")
    return (
      <>
        credentials of the scheme <code>{String(word)}</code> in <code>Authorization</code>
      </>
    )
  return (
    <>
      a bearer token{kind !== undefined && ` (${kind})`} in <code>Authorization</code>
    </>
  )
}
