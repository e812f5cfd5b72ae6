import { counted } from "../../../control/console/page/format.ts"
import { useLoaded } from "../../../control/console/page/loaded.ts"
import { Badge, Empty, Failed, Loading, PageHead } from "../../../control/console/page/parts/basic.tsx"
import { addressOf } from "../../../control/console/page/router.ts"
import type { ApisAnswer, PublishedApi } from "../../api.ts"
import { versionSegment } from "../parts/lifecycle.tsx"
import { textOf } from "../texts.ts"

/** The published APIs with their versions. */
export default function Apis() {
  const { answer, error, reload } = useLoaded<ApisAnswer>("/api/apis")
  const found = answer.value
  return (
    <>
      <PageHead title={textOf("nav.apis")} about={textOf("apis.about")} />
      {error.value !== undefined && <Failed error={error.value} retry={reload} />}
      {found === undefined && error.value === undefined && <Loading />}
      {found?.apis.length === 0 && <Empty title={textOf("apis.none")} />}
      <div class="cards">
        {found?.apis.map((api) => (
          <Api key={api.name} api={api} />
        ))}
      </div>
    </>
  )
}

function Api({ api: { name, versions, products } }: { readonly api: PublishedApi }) {
  const description = versions.at(-1)?.description
  return (
    <section class="panel" aria-label={name}>
      <h2>{versions.at(-1)?.title ?? name}</h2>
      {description && <p class="quiet clamped">{description}</p>}
      <ul class="plain-list">
        {versions.map((each) => (
          <li key={each.version}>
            <a href={addressOf(["apis", name, versionSegment(each.version)])}>{each.version ?? name}</a>{" "}
            <code>{each.path}</code> <span class="quiet">{counted(each.operations, "operation")}</span>{" "}
            {each.lifecycle && (
              <Badge tone="warn">{each.lifecycle.deprecated ? "deprecated" : "sunset"}</Badge>
            )}
          </li>
        ))}
      </ul>
      {products.length > 0 && (
        <p class="quiet">
          In the {products.length === 1 ? "product" : "products"} {products.join(", ")}
        </p>
      )}
    </section>
  )
}
