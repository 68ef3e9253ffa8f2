import { Command } from 'commander'
import { Agent } from 'undici'
import { printable } from '../util/printable.ts'
import { duration, positive } from './flags.ts'
import { standardTerminals } from './terminal/terminal.ts'

/** `culvert probe`: requests a URL once, for containers without another HTTP client. */
export function probeCommand(): Command {
  return new Command('probe')
    .description('Request a URL once; exit with code 1 unless the status is 2xx, or the one given by --status.')
    .argument('<url>', 'such as http://culvert.culvert-system.svc:8080/readyz')
    .option('--timeout <time>', 'how long to wait for the answer', duration, 10_000)
    .option('--status <code>', 'expected HTTP status, such as 401 where access must be denied', positive)
    .action(async (url: string, { timeout, status }: { readonly timeout: number; readonly status?: number }) => {
      process.exitCode = await runProbe(url, { timeoutMs: timeout, status }, standardTerminals().out.print)
    })
}

export interface ProbeOptions {
  readonly timeoutMs: number
  /** The expected status. Undefined: any 2xx. */
  readonly status?: number | undefined
}

/** @returns the exit code of the process. */
export async function runProbe(
  url: string,
  { timeoutMs, status }: ProbeOptions,
  print: (line: string) => void,
): Promise<number> {
  const agent = new Agent()
  try {
    const { origin, pathname, search } = new URL(url)
    const signal = AbortSignal.timeout(timeoutMs)
    const { statusCode, body } = await agent.request({ origin, path: `${pathname}${search}`, method: 'GET', signal })
    const text = (await body.text()).trim().slice(0, 500)
    print(printable(`${url}: ${statusCode} ${text}`))
    const isExpected = status === undefined ? statusCode >= 200 && statusCode < 300 : statusCode === status
    return isExpected ? 0 : 1
  } catch (error) {
    print(`${url}: ${error instanceof Error ? error.message : String(error)}`)
    return 1
  } finally {
    await agent.close()
  }
}
