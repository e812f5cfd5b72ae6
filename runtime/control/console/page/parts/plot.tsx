import { useEffect, useRef } from "preact/hooks"
import UPlot from "uplot"

/** One line of a plot. `tone`: the name of a colour variable of the style sheet. */
export interface Line {
  readonly label: string
  readonly tone: string
  readonly values: readonly (number | null)[]
  /** It is a limit of the others, so it is dashed. */
  readonly isLimit?: boolean
}

/** A moment that plots mark: a plan was applied. `at`: seconds since the epoch. */
export interface Mark {
  readonly at: number
  readonly label: string
}

interface PlotProps {
  /** What it shows, for those who do not see it. */
  readonly label: string
  /** Seconds since the epoch, ascending. */
  readonly times: readonly number[]
  readonly lines: readonly Line[]
  readonly marks: readonly Mark[]
  readonly text: (value: number) => string
  /** The values are of whole days. */
  readonly isDaily?: boolean
}

const height = 170

/** A live plot of lines over time, with a legend that shows the values under the pointer. */
export function Plot(props: PlotProps) {
  const holder = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot>(undefined)
  const newest = useRef(props)
  newest.current = props
  const names = props.lines.map(({ label }) => label).join("\n")

  useEffect(() => {
    const element = holder.current
    if (element === null) return undefined
    const make = () => {
      plot.current?.destroy()
      plot.current = new UPlot(optionsOf(newest, element), dataOf(newest.current), element)
    }
    make()
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height }))
    resized.observe(element)
    // Colours of a canvas do not follow the style sheet.
    const theme = matchMedia("(prefers-color-scheme: dark)")
    theme.addEventListener("change", make)
    return () => {
      resized.disconnect()
      theme.removeEventListener("change", make)
      plot.current?.destroy()
      plot.current = undefined
    }
  }, [names])

  useEffect(() => {
    plot.current?.setData(dataOf(props))
  }, [props.times, props.lines, props.marks])

  return <div class="plot" ref={holder} role="img" aria-label={spoken(props)} />
}

function dataOf({ times, lines }: PlotProps): UPlot.AlignedData {
  return [[...times], ...lines.map(({ values }) => [...values])]
}

/** The last values of all lines. */
function spoken({ label, lines, text }: PlotProps): string {
  const last = lines.map(({ label: name, values }) => {
    const value = values.at(-1)
    return `${name} ${value === null || value === undefined ? "no value" : text(value)}`
  })
  return `${label}: ${last.join(", ") || "no data yet"}`
}

/** `newest`: what the plot shows now, of which the marks are drawn each time. */
function optionsOf(newest: { readonly current: PlotProps }, element: HTMLElement): UPlot.Options {
  const { lines, text, isDaily = false } = newest.current
  const secondsMin = isDaily ? 86_400 : 60
  const style = getComputedStyle(element)
  const colour = (name: string) => resolved(element, style.getPropertyValue(`--${name}`))
  const axis = { stroke: colour("quiet"), grid: { stroke: colour("rule"), width: 1 }, ticks: { show: false } }
  return {
    ...{ width: element.clientWidth || 400, height },
    legend: { live: true },
    cursor: { y: false, points: { size: 6 } },
    scales: {
      // No point, or a single one, spans no time at all.
      x: {
        range: (_, first, last) => {
          const end = last > 0 ? last : Date.now() / 1000
          return [Math.min(first > 0 ? first : end, end - secondsMin), end]
        },
      },
      y: { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.1 : 1] },
    },
    axes: [
      {
        ...axis,
        font: "11px system-ui",
        size: 28,
        space: 70,
        values: (_, times) => times.map(isDaily ? dayText : clockText),
      },
      { ...axis, font: "11px system-ui", size: 62, values: (_, values) => values.map(text) },
    ],
    series: [
      { label: "at", value: (_, at) => (at === null ? "now" : isDaily ? dayText(at) : clockText(at)) },
      ...lines.map(
        ({ label, tone, isLimit = false }): UPlot.Series => ({
          ...{ label, stroke: colour(tone), width: 1.5, ...(isLimit ? { dash: [6, 4] } : {}) },
          points: { show: false, size: 5, filter: (self, series) => alone(self.data[series] ?? []) },
          value: (self, value, index, at) => {
            const shown = at === null ? self.data[index]?.at(-1) : value
            return shown === null || shown === undefined ? "–" : text(shown)
          },
        }),
      ),
    ],
    hooks: { draw: [(self) => drawMarks(self, newest.current.marks, colour("accent"))] },
  }
}

/** Values without a neighbour: a line through them alone would not be seen. */
function alone(values: ArrayLike<unknown>): number[] {
  const has = (at: number) => typeof values[at] === "number"
  return Array.from(values, (_, at) => at).filter((at) => has(at) && !has(at - 1) && !has(at + 1))
}

const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" })

function dayText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().slice(5, 10)
}

function clockText(seconds: number): string {
  return clock.format(new Date(seconds * 1000))
}

/** A canvas understands no `light-dark()`. */
function resolved(element: HTMLElement, value: string): string {
  const probe = document.createElement("i")
  probe.style.color = value
  element.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

function drawMarks(plot: UPlot, marks: readonly Mark[], colour: string): void {
  const { ctx, bbox } = plot
  ctx.save()
  ctx.strokeStyle = colour
  ctx.fillStyle = colour
  ctx.font = `${11 * devicePixelRatio}px system-ui`
  ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio])
  for (const { at, label } of marks) {
    const x = plot.valToPos(at, "x", true)
    if (x < bbox.left || x > bbox.left + bbox.width) continue
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
    ctx.fillText(label, x + 4 * devicePixelRatio, bbox.top + 12 * devicePixelRatio)
  }
  ctx.restore()
}
