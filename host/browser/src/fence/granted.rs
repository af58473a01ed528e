//! What goes on for as long as its grant does: tunnels, and answers that do not end.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};

use super::dial::{Dialer, Refusal};
use super::policy::Destination;

/// Between two questions whether something may go on.
const JUDGED_AGAIN: Duration = Duration::from_secs(1);

pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A connection is judged when it is made, and then again and again: its grant may be taken back.
pub(crate) async fn until_refused(dialer: &Dialer, destination: &Destination) -> Refusal {
    loop {
        tokio::time::sleep(JUDGED_AGAIN).await;
        if let Err(refusal) = dialer.judge(destination) {
            return refusal;
        }
    }
}

/// The body of an answer, broken off when its grant is taken back.
pub(crate) struct Granted {
    body: Incoming,
    refused: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Granted {
    pub(crate) fn new(body: Incoming, dialer: Arc<Dialer>, destination: Destination) -> Granted {
        let refused = async move {
            let refusal = until_refused(&dialer, &destination).await;
            dialer.note(&destination, None, refusal);
        };
        Granted { body, refused: Box::pin(refused) }
    }
}

impl Body for Granted {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(error.into()))),
            frame => match self.refused.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(Some(Err("the grant was taken back".into()))),
                Poll::Pending => frame.map_err(Into::into),
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
