// Keeps the other parts of a page working if one part fails or cannot load.
import { Component, type ComponentType, lazy, type ReactNode } from 'react'
import { ui } from '../words/ui.ts'
import { part } from './part.ts'
import { Failed } from './states.tsx'

/**
 * Shows a notice in place of a part that failed. Tries the part again when the visitor presses a button, or when `at`
 * changes. The other parts keep their state, such as the key that opened the console.
 */
export class Boundary extends Component<{ at?: string; children: ReactNode }, { failure: Error | null }> {
  override state = { failure: null }
  static getDerivedStateFromError(failure: Error) {
    return { failure }
  }
  override componentDidUpdate({ at }: { at?: string }) {
    if (this.state.failure && at !== this.props.at) this.retry()
  }
  override render() {
    const { failure } = this.state
    if (!failure) return this.props.children
    return <Failed error={new Error(ui.states.part, { cause: failure })} retry={this.retry} />
  }
  private readonly retry = () => this.setState({ failure: null })
}

/** A component that loads when first shown. If that fails, public/theme.js reloads the page once, because a release may have removed the part. */
export const later = <Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> =>
  lazy(async () => {
    try {
      return { default: await part(load) }
    } catch (error) {
      window.dispatchEvent(new Event('part-missing'))
      throw error
    }
  })
