import { useLoaded } from "../../../control/console/page/loaded.ts"
import { Failed, Loading, PageHead } from "../../../control/console/page/parts/basic.tsx"
import { place } from "../../../control/console/page/router.ts"
import type { PageAnswer } from "../../api.ts"
import { Markdown } from "../parts/markdown.tsx"

/** The text below its title, which is the head of the page: most files begin with it. */
function withoutTitle({ title, markdown }: PageAnswer): string {
  const [first = "", ...rest] = markdown.trimStart().split("\n")
  return /^#\s+(.*?)\s*$/.exec(first)?.[1] === title ? rest.join("\n") : markdown
}

/** A page that the plan brings, in Markdown. */
export default function Page() {
  const slug = place.value.segments[1] ?? ""
  const { answer, error, reload } = useLoaded<PageAnswer>(`/api/pages/${encodeURIComponent(slug)}`)
  return (
    <>
      <PageHead title={answer.value?.title ?? slug} />
      {error.value !== undefined && <Failed error={error.value} retry={reload} />}
      {answer.value === undefined && error.value === undefined && <Loading />}
      {answer.value && <Markdown text={withoutTitle(answer.value)} />}
    </>
  )
}
