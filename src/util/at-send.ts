import { Dispatcher } from 'undici'

/**
 * Sends through `dispatcher`, and calls `check` for each request once its connection is open, just before its first
 * byte is written. A request that `check` throws for is not sent and fails with what it threw.
 *
 * Checking earlier is not enough: opening a connection can take any time, and a machine may sleep meanwhile.
 */
export class CheckedDispatcher extends Dispatcher {
  readonly #dispatcher: Dispatcher
  readonly #check: () => void

  constructor(dispatcher: Dispatcher, check: () => void) {
    super()
    this.#dispatcher = dispatcher
    this.#check = check
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    return this.#dispatcher.dispatch(options, {
      onRequestStart: (controller, context) => {
        this.#check()
        handler.onRequestStart?.(controller, context)
      },
      onRequestUpgrade: (...given) => handler.onRequestUpgrade?.(...given),
      onResponseStart: (...given) => handler.onResponseStart?.(...given),
      onResponseData: (...given) => handler.onResponseData?.(...given),
      onResponseEnd: (...given) => handler.onResponseEnd?.(...given),
      onResponseError: (...given) => handler.onResponseError?.(...given),
    })
  }
}
