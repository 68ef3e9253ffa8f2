import { open, stat } from 'node:fs/promises'
import { inject } from 'vitest'

/** A request to the apiserver, as its audit log records it on arrival. */
export interface AuditEntry {
  readonly verb: string
  readonly userAgent: string
  readonly resource: string
  readonly subresource: string | undefined
  readonly namespace: string | undefined
  readonly name: string | undefined
  /** Whether the server is only to check the request. */
  readonly isDryRun: boolean
  /** When the request was received, RFC 3339. */
  readonly time: string
}

interface Line {
  readonly stage: string
  readonly verb: string
  readonly userAgent?: string
  readonly requestURI: string
  readonly requestReceivedTimestamp: string
  readonly objectRef?: {
    readonly resource?: string
    readonly subresource?: string
    readonly namespace?: string
    readonly name?: string
  }
}

/** The operator's user agent; tests use others. */
const OPERATOR = 'culvert'

const READS: ReadonlySet<string> = new Set(['get', 'list', 'watch'])

/**
 * Resources whose writes are not a reaction to a resource: leader election, and Events, which have tests of their own.
 */
const ASIDE: ReadonlySet<string> = new Set(['leases', 'events'])

/**
 * The audit log of the suite's apiserver: requests as they arrived. An arrival is logged before the request is
 * processed, so if a test has seen an effect, its request is in the log.
 *
 * @example
 * const mark = await audit.mark()
 * expect(await audit.operatorWrites([world.namespace], mark)).toEqual([])
 */
export class AuditLog {
  readonly #path: string

  constructor(path: string) {
    this.#path = path
  }

  /** @throws Error when the suite runs on a given cluster: only a cluster that the suite starts has an audit log. */
  static ofSuite(): AuditLog {
    const path = inject('auditLogPath')
    if (path === undefined)
      throw new Error('unset CULVERT_TEST_KUBECONFIG: this test reads the audit log of the suite’s own cluster')
    return new AuditLog(path)
  }

  /** The log's current position; pass it to the other methods to see only what follows. */
  async mark(): Promise<number> {
    return (await stat(this.#path)).size
  }

  /** Requests that arrived since `mark`, oldest first. */
  async entries(mark: number): Promise<readonly AuditEntry[]> {
    const text = await this.#read(mark)
    // The last line may be incomplete.
    const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n')
    return lines.flatMap((line) => (line === '' ? [] : entriesOf(JSON.parse(line) as Line)))
  }

  /** Writes of an operator to anything in these namespaces, except Leases and Events. */
  async operatorWrites(namespaces: readonly string[], mark: number): Promise<readonly AuditEntry[]> {
    return (await this.entries(mark)).filter(({ verb, userAgent, resource, namespace = '' }) => {
      return userAgent === OPERATOR && !READS.has(verb) && !ASIDE.has(resource) && namespaces.includes(namespace)
    })
  }

  async #read(from: number): Promise<string> {
    const file = await open(this.#path)
    try {
      const { size } = await file.stat()
      const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.max(0, size - from)), { position: from })
      return buffer.toString('utf8', 0, bytesRead)
    } finally {
      await file.close()
    }
  }
}

function entriesOf(line: Line): readonly AuditEntry[] {
  const { stage, verb, userAgent = '', requestURI, objectRef = {}, requestReceivedTimestamp: time } = line
  if (stage !== 'RequestReceived') return []
  const { resource = '', subresource, namespace, name } = objectRef
  const isDryRun = /[?&]dryRun=All\b/.test(requestURI)
  return [{ verb, userAgent, resource, subresource, namespace, name, isDryRun, time }]
}
