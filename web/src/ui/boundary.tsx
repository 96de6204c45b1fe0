// Keeps the rest of a page working if one part fails or cannot load.
import { Component, type ComponentType, lazy, type ReactNode } from 'react'
import { ui } from '../words/ui.ts'
import { Failed } from './states.tsx'

/**
 * Shows a notice in place of a part that failed. Tries the part again when the visitor presses a button, or when `at`
 * changes. The other parts keep their state, such as the key that opened the console.
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

/**
 * The parts to load again before they are shown. A failed part stays listed while it is shown, because React asks for
 * it more than once.
 */
const failed = new Set<() => void>()
function renew(): void {
  for (const begin of failed) begin()
  failed.clear()
}

/**
 * How long we wait before each further attempt to load a part, in milliseconds. A restarting service is back by then.
 */
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
    // If a release has removed the part, public/theme.js reloads the page.
    window.dispatchEvent(new Event('part-missing'))
    throw error
  })
}

/** A component that loads when first shown. If that fails, it tries again the next time it is shown. */
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
