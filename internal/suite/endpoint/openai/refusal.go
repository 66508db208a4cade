package openai

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
)

const seeLog = ": look at the server's log"

// unanswered classifies a request without an answer.
func (c *Client) unanswered(reply *Reply, a *attempt, cause, err error) {
	reason := c.quote(err.Error())
	switch {
	case cause == errCancelled:
		reply.end(Cancelled, "cancelled before the answer began")
	case cause != nil && reply.Conn == 0:
		reply.end(Connect, "no connection to "+c.root+" in time: look at the server's log, or correct base_url or --base-url")
	case cause != nil:
		c.late(reply, cause)
	case untrusted(err):
		reply.end(Connect, c.untrusted(err).Error())
	case reply.Retried && !a.answered.Load():
		reply.end(ResetReused,
			"a reused connection failed, and so did a fresh one: "+reason+": look at the server's log, or set request.keepalive to false")
	case reply.Conn == 0:
		reply.end(Connect, "no connection to "+c.root+": "+reason+": start the server, or correct base_url or --base-url")
	case strings.Contains(err.Error(), "malformed HTTP"): // net/http has no type for it
		reply.end(Connect, "the server does not answer in HTTP: "+reason+": correct base_url or --base-url")
	default:
		reply.end(ResetMidstream, "the connection ended before the answer: "+reason+seeLog)
	}
}

func (c *Client) late(reply *Reply, cause error) {
	switch cause {
	case errFirst:
		reply.end(TimeoutFirst, fmt.Sprintf("no token within %s: raise timeouts.first, or look at the server's log", c.options.First))
	case errIdle:
		reply.end(TimeoutIdle, fmt.Sprintf("no further line within %s: raise timeouts.idle, or look at the server's log", c.options.Idle))
	default:
		reply.end(TimeoutTotal, fmt.Sprintf("not finished within %s: raise timeouts.total, or look at the server's log", c.options.Total))
	}
}

// untrusted reports whether a server was refused for its certificate.
func untrusted(err error) bool {
	var verification *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	return errors.As(err, &verification) || errors.As(err, &authority) || errors.As(err, &name) || errors.As(err, &invalid)
}

// untrusted returns what to do about a certificate. Go reads the variable on all
// systems but macOS and Windows, which keep certificates of their own.
func (c *Client) untrusted(err error) error {
	return fmt.Errorf(
		"the certificate of %s is not trusted (%s): name the file of its authority in the variable SSL_CERT_FILE, or correct base_url or --base-url",
		c.root, c.quote(err.Error()))
}

// maxRefusal bounds what is read of a body behind a status of failure.
const maxRefusal = 64 << 10

func (c *Client) refused(reply *Reply, resp *http.Response) {
	status := resp.StatusCode
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	reason := fmt.Sprintf("HTTP %d: %s", status, c.quote(message(body)))
	if name := c.encoding(resp.Header); name != "" {
		reason = fmt.Sprintf("HTTP %d, with a body in the encoding %s", status, name)
	}
	switch {
	case status == http.StatusTooManyRequests:
		if wait := resp.Header.Get("Retry-After"); wait != "" {
			reason += " (retry after " + text.Clip(c.quote(wait), 40) + ")"
		}
		reply.end(RateLimited, reason+nextStep(status))
	case status >= 500:
		reply.end(HTTP5xx, reason+nextStep(status))
	case status < 400:
		reply.end(HTTP4xx,
			fmt.Sprintf("HTTP %d: redirects are not followed, the server points to %s: give the server's own URL with --base-url",
				status, c.quote(resp.Header.Get("Location"))))
	default:
		reply.end(HTTP4xx, reason+nextStep(status))
	}
}

// nextStep returns what to do about a status of failure.
func nextStep(status int) string {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return ": set the key's variable with --api-key-env"
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return ": correct the model's name or --base-url"
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return ": send less at once, or raise the server's limits"
	}
	if status < 500 {
		return ": correct the request, or look at the server's log"
	}
	return seeLog
}

// encoding names the unrequested encoding of a body, "" for
// nothing. Some servers write "none".
func (c *Client) encoding(h http.Header) string {
	name := text.Clip(c.quote(h.Get("Content-Encoding")), 40)
	if lower := strings.ToLower(name); lower == "identity" || lower == "none" {
		return ""
	}
	return name
}

const unwrap = "which was not asked for: turn compression off at the server, or at the proxy before it"

// nameEncoding gives the reason why an answer could not be read.
func (c *Client) nameEncoding(reply *Reply, h http.Header) {
	name := c.encoding(h)
	if unread := reply.Outcome == BadJSON || reply.Outcome == Empty; unread && name != "" {
		reply.end(BadJSON, "the answer is in the encoding "+name+", "+unwrap)
	}
}
