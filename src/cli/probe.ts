import { Command } from 'commander'
import { request } from 'undici'
import { duration } from './flags.ts'

/** `culvert probe`: asks a URL once, for containers that hold no other HTTP client. */
export function probeCommand(): Command {
  return new Command('probe')
    .description('Ask a URL once; exit code 1 unless the answer is 2xx.')
    .argument('<url>', 'such as http://culvert.culvert-system.svc:8080/readyz')
    .option('--timeout <time>', 'how long an answer may take', duration, 10_000)
    .action(async (url: string, { timeout }: { readonly timeout: number }) => {
      process.exitCode = await runProbe(url, timeout, (line) => console.log(line))
    })
}

/** @returns the exit code of the process. */
export async function runProbe(url: string, timeoutMs: number, print: (line: string) => void): Promise<number> {
  try {
    const { statusCode, body } = await request(url, { signal: AbortSignal.timeout(timeoutMs) })
    const text = (await body.text()).trim().slice(0, 500)
    print(`${url}: ${statusCode} ${text}`)
    return statusCode >= 200 && statusCode < 300 ? 0 : 1
  } catch (error) {
    print(`${url}: ${error instanceof Error ? error.message : String(error)}`)
    return 1
  }
}
