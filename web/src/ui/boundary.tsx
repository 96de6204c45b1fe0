// Keeps what fails in one part of a page, or cannot be loaded, from taking the rest along.
import { Component, type ComponentType, lazy, type ReactNode } from 'react'
import { ui } from '../words/ui.ts'
import { Failed } from './states.tsx'

/**
 * Shows in place of a part that failed that it did, and has it tried again: by a press, or when `at` changes. What has not failed keeps its
 * state then, such as the key that the console was opened with.
 */
export class Boundary extends Component<{ at?: string; children: ReactNode }, { hasFailed: boolean }> {
  override state = { hasFailed: false }
  static getDerivedStateFromError() {
    return { hasFailed: true }
  }
  override componentDidUpdate({ at }: { at?: string }) {
    if (this.state.hasFailed && at !== this.props.at) this.retry()
  }
  override componentWillUnmount() {
    if (this.state.hasFailed) renew()
  }
  override render() {
    if (!this.state.hasFailed) return this.props.children
    return <Failed error={new Error(ui.states.part)} retry={this.retry} />
  }
  private readonly retry = () => {
    renew()
    this.setState({ hasFailed: false })
  }
}

/** What has to be loaded anew before it is shown again. While a failure is shown it stays one: React asks for it more than once. */
const failed = new Set<() => void>()
function renew(): void {
  for (const begin of failed) begin()
  failed.clear()
}

/** Pauses before a part is asked for once more, in milliseconds: a service that starts again is back by then. */
const AGAIN_MS = [1_000, 3_000]

async function loaded<T>(load: () => Promise<T>): Promise<T> {
  for (const pauseMs of AGAIN_MS) {
    try {
      return await load()
    } catch {
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
  return load().catch((error: unknown) => {
    // Loads the page anew where a release has taken the part away: public/theme.js.
    window.dispatchEvent(new Event('part-missing'))
    throw error
  })
}

/** A component that is loaded when it is first shown. One that could not be is loaded anew when it is shown again. */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const begin = () =>
    lazy(async () => {
      try {
        return { default: await loaded(load) }
      } catch (error) {
        failed.add(() => {
          Part = begin()
        })
        throw error
      }
    })
  let Part = begin()
  return (props: Props) => <Part {...props} />
}
