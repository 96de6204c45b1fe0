// Samples the resident memory of a process, second by second.
import { readFileSync } from 'node:fs'

export interface MemorySample {
  /** Seconds since the watch began. */
  sec: number
  /** Resident set, in millions of bytes. */
  mb: number
}

/** Samples every second until stopped. Linux only. */
export function watchMemory(pid: number): { stop(): MemorySample[] } {
  const samples: MemorySample[] = []
  const began = performance.now()
  const look = () => samples.push({ sec: (performance.now() - began) / 1000, mb: residentMb(pid) })
  look()
  const timer = setInterval(look, 1_000)
  return {
    stop() {
      clearInterval(timer)
      return samples
    },
  }
}

/** The resident set of a process, in millions of bytes. Linux only. */
export function residentMb(pid: number): number {
  const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  if (kib === undefined) throw new Error(`process ${pid} has no resident set`)
  return (Number(kib) * 1024) / 1e6
}

/** The slope of the least-squares line through the samples. */
export function growthPerMinute(samples: readonly MemorySample[]): number {
  const mean = (of: (sample: MemorySample) => number) => samples.reduce((sum, one) => sum + of(one), 0) / samples.length
  const [sec, mb] = [mean((one) => one.sec), mean((one) => one.mb)]
  const together = mean((one) => (one.sec - sec) * (one.mb - mb))
  const apart = mean((one) => (one.sec - sec) ** 2)
  return (together / apart) * 60
}
