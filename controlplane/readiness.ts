import { readFile } from 'node:fs/promises'
import { Agent, get } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import type { Component } from './component.ts'
import { ControlPlaneError, systemErrorCode } from './errors.ts'

const POLL_MILLISECONDS = 50
const REQUEST_TIMEOUT_MILLISECONDS = 5_000

/** A condition to wait for, and the components that it needs. */
export interface Awaited {
  /** In words, for the error: `"kube-apiserver to be ready"`. */
  readonly what: string
  /** The component responsible, whose log explains a timeout. */
  readonly by: Component
  /** Other components that it needs: when one of them ends, the wait is over. */
  readonly needs: readonly (Component | undefined)[]
  readonly timeoutMilliseconds: number
}

/**
 * Repeats `ask` until its result is not undefined.
 *
 * @throws ControlPlaneError `PORT_TAKEN` or `START_FAILED` if a component ends first, or on timeout
 */
export async function waitFor<T>(awaited: Awaited, ask: () => Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + awaited.timeoutMilliseconds
  for (;;) {
    for (const component of [...awaited.needs, awaited.by]) await component?.assertRunning()
    const answer = await ask()
    if (answer !== undefined) return answer
    if (performance.now() > deadline) {
      throw new ControlPlaneError(
        'START_FAILED',
        `Waited ${awaited.timeoutMilliseconds / 1000} s for ${awaited.what}. ` +
          `The end of ${awaited.by.name}'s log:\n${await awaited.by.logTail()}`,
      )
    }
    await delay(POLL_MILLISECONDS)
  }
}

/** The content of a file, undefined while it is missing or empty. */
export async function readWhenThere(path: string): Promise<Buffer | undefined> {
  try {
    const content = await readFile(path)
    return content.length === 0 ? undefined : content
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/**
 * Checks whether paths of our own apiserver answer 200. Its CA is verified, so that no other server can answer for it.
 */
export class ApiserverProbe {
  readonly #server: string
  readonly #token: string
  readonly #agent: Agent

  constructor(server: string, ca: Buffer, token: string) {
    this.#server = server
    this.#token = token
    this.#agent = new Agent({ ca, keepAlive: true, maxSockets: 1 })
  }

  /** True if `path` answers 200; undefined otherwise, or without an answer. */
  ok(path: string): Promise<true | undefined> {
    return new Promise((resolve) => {
      const request = get(
        `${this.#server}${path}`,
        {
          agent: this.#agent,
          headers: { authorization: `Bearer ${this.#token}`, 'user-agent': 'culvert-controlplane' },
          timeout: REQUEST_TIMEOUT_MILLISECONDS,
        },
        (response) => {
          response.resume()
          response.once('close', () => resolve(response.statusCode === 200 ? true : undefined))
        },
      )
      request.once('timeout', () => request.destroy())
      request.once('error', () => resolve(undefined))
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}
