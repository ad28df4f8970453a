package tradewindtest

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

type found struct{ url, token string }

var ready = regexp.MustCompile(`Tradewind is ready at (\S+)`)

// address returns the server that the environment names, or else one with an empty database that is started once.
var address = sync.OnceValues(func() (found, error) {
	url := os.Getenv("TRADEWIND_URL")
	if url == "" {
		url = strings.TrimSuffix(strings.TrimSuffix(os.Getenv("GCORE_BASE_URL"), "/"), "/gcore")
	}
	if url == "" {
		return start()
	}
	token := os.Getenv("TRADEWIND_TOKEN")
	if token == "" {
		token = os.Getenv("GCORE_API_KEY")
	}
	return found{strings.TrimSuffix(url, "/"), token}, nil
})

// start starts a server, which sees when the process of the tests has ended, and ends then. The shell that waits for it
// removes its folder.
func start() (found, error) {
	command := os.Getenv("TRADEWIND_COMMAND")
	if command == "" {
		command = "npx --yes tradewind"
	}
	folder, err := os.MkdirTemp("", "tradewind-")
	if err != nil {
		return found{}, err
	}
	token := "1_" + randomHex() + randomHex()
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		return found{}, err
	}
	defer log.Close()
	server := exec.Command("sh", "-c", command+` serve; rm -rf "$0"`, folder)
	server.Stdout, server.Stderr = log, log
	server.Env = environment(
		[]string{"TRADEWIND_SIMULATION_SPEED=1000", "TRADEWIND_RATE_LIMIT=0", "TRADEWIND_AI_CONCURRENCY=0"},
		[]string{
			"TRADEWIND_TEST_API=true", "TRADEWIND_PORT=0", "TRADEWIND_BOOTSTRAP_TOKEN=" + token,
			"TRADEWIND_DATA_DIR=" + filepath.Join(folder, "data"),
		},
	)
	if err := server.Start(); err != nil {
		return found{}, err
	}
	ended := make(chan struct{})
	go func() { server.Wait(); close(ended) }()
	for {
		said, _ := os.ReadFile(log.Name())
		if match := ready.FindSubmatch(said); match != nil {
			return found{string(match[1]), token}, nil
		}
		select {
		case <-ended:
			return found{}, fmt.Errorf("%q ended:\n%s", command+" serve", bytes.TrimSpace(said))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// environment returns the environment of this process between what it may replace and what it may not.
func environment(before, after []string) []string {
	all := before
	for _, each := range os.Environ() {
		// A database would be emptied by each reset.
		if !strings.HasPrefix(each, "TRADEWIND_COMMAND=") && !strings.HasPrefix(each, "DATABASE_URL=") {
			all = append(all, each)
		}
	}
	return append(all, after...)
}

func randomHex() string {
	text := make([]byte, 16)
	if _, err := rand.Read(text); err != nil {
		panic(err)
	}
	return hex.EncodeToString(text)
}
