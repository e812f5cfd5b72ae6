import { useSignal } from "@preact/signals"
import { useLoaded } from "../../../control/console/page/loaded.ts"
import {
  Badge,
  Empty,
  Failed,
  Field,
  Loading,
  PageHead,
  Panel,
} from "../../../control/console/page/parts/basic.tsx"
import { addressOf, place } from "../../../control/console/page/router.ts"
import type { ApiAnswer, OperationSummary } from "../../api.ts"
import { LifecycleNotice } from "../parts/lifecycle.tsx"
import { Markdown } from "../parts/markdown.tsx"
import { SwaggerLink } from "../parts/swagger-link.tsx"
import { textOf } from "../texts.ts"

/** One version of an API: what it is, and its operations by tag. */
export default function Api() {
  const [, api = "", version = "-"] = place.value.segments
  const path = `/api/apis/${encodeURIComponent(api)}/${encodeURIComponent(version)}`
  const { answer, error, reload } = useLoaded<ApiAnswer>(path)
  const search = useSignal("")
  const found = answer.value
  const wanted = search.value.trim().toLowerCase()
  const shown = (found?.list ?? []).filter((each) => textIn(each).includes(wanted))
  return (
    <>
      <p class="crumbs">
        <a href={addressOf([])}>{textOf("nav.apis")}</a>
      </p>
      <PageHead
        title={found?.title ?? api}
        about={found && <code>{found.path}</code>}
        actions={
          found && (
            <>
              <a class="button" href={`${path}/openapi.json`} download={`${api}.json`}>
                OpenAPI document
              </a>
              <SwaggerLink class="button" api={api} version={version} />
            </>
          )
        }
      />
      {error.value !== undefined && <Failed error={error.value} retry={reload} />}
      {found === undefined && error.value === undefined && <Loading />}
      {found && <LifecycleNotice api={api} lifecycle={found.lifecycle} />}
      {found?.description && <Markdown text={found.description} />}
      {found && found.list.length > 8 && (
        <Field id="search" label="Search operations">
          <input
            id="search"
            type="search"
            value={search.value}
            onInput={(event) => {
              search.value = event.currentTarget.value
            }}
          />
        </Field>
      )}
      {found && shown.length === 0 && <Empty title="No operation has this text" />}
      {tagsOf(shown).map(([tag, operations]) => (
        <Panel key={tag} title={tag === "" ? "Operations" : tag}>
          <ul class="operations">
            {operations.map((each) => (
              <Operation
                key={each.id}
                address={addressOf(["apis", api, version, each.id])}
                operation={each}
              />
            ))}
          </ul>
        </Panel>
      ))}
    </>
  )
}

function Operation(props: { readonly address: string; readonly operation: OperationSummary }) {
  const { method, template, summary, deprecated } = props.operation
  return (
    <li>
      <a href={props.address} class="route">
        <code>
          <span class="method">{method}</span> {template}
        </code>
      </a>{" "}
      {summary !== null && <span class="quiet">{summary}</span>}{" "}
      {deprecated && <Badge tone="warn">deprecated</Badge>}
    </li>
  )
}

function textIn({ method, template, summary, id }: OperationSummary): string {
  return `${method} ${template} ${summary ?? ""} ${id}`.toLowerCase()
}

/** Operations by their first tag, in the order of the document. */
function tagsOf(
  operations: readonly OperationSummary[],
): readonly (readonly [string, readonly OperationSummary[]])[] {
  const byTag = new Map<string, OperationSummary[]>()
  for (const each of operations) {
    const tag = each.tags[0] ?? ""
    byTag.set(tag, [...(byTag.get(tag) ?? []), each])
  }
  return [...byTag]
}
