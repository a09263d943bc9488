export { startReceiver, type Received, type Receiver } from "../runtime/authors/test-receiver.ts";
