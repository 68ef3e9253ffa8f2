import { Command } from 'commander'
import { request } from 'undici'
import { duration, positive } from './flags.ts'

/** `culvert probe`: asks a URL once, for containers that hold no other HTTP client. */
export function probeCommand(): Command {
  return new Command('probe')
    .description('Ask a URL once; exit code 1 unless the answer is 2xx, or as --status says.')
    .argument('<url>', 'such as http://culvert.culvert-system.svc:8080/readyz')
    .option('--timeout <time>', 'how long an answer may take', duration, 10_000)
    .option('--status <code>', 'the HTTP status to expect, such as 401 of what must be closed', positive)
    .action(async (url: string, { timeout, status }: { readonly timeout: number; readonly status?: number }) => {
      process.exitCode = await runProbe(url, { timeoutMs: timeout, status }, (line) => console.log(line))
    })
}

export interface ProbeOptions {
  readonly timeoutMs: number
  /** What the answer has to be. Undefined: any 2xx. */
  readonly status?: number | undefined
}

/** @returns the exit code of the process. */
export async function runProbe(
  url: string,
  { timeoutMs, status }: ProbeOptions,
  print: (line: string) => void,
): Promise<number> {
  try {
    const { statusCode, body } = await request(url, { signal: AbortSignal.timeout(timeoutMs) })
    const text = (await body.text()).trim().slice(0, 500)
    print(`${url}: ${statusCode} ${text}`)
    const isExpected = status === undefined ? statusCode >= 200 && statusCode < 300 : statusCode === status
    return isExpected ? 0 : 1
  } catch (error) {
    print(`${url}: ${error instanceof Error ? error.message : String(error)}`)
    return 1
  }
}
